"""Word lists of the support checks: what licenses a change of words and what forbids it.

Own selections of common English (and a little German) words; lists are matched by stem.
"""

from __future__ import annotations

from grounded_rag.text.stems import stem


def _groups(rows: str) -> dict[str, frozenset[int]]:
    table: dict[str, set[int]] = {}
    for number, row in enumerate(rows.strip().splitlines()):
        for word in row.split():
            table.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in table.items()}


def _pairs(rows: str) -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for entry in rows.replace("\n", "|").strip("|").split("|"):
        left, right = (side.split() for side in entry.split("/"))
        for first in left:
            for second in right:
                table.setdefault(stem(first), set()).add(stem(second))
                table.setdefault(stem(second), set()).add(stem(first))
    return {word: frozenset(others) for word, others in table.items()}


_SYNONYMS = _groups("""
cost charge price fee rate expense amount pay
free nothing zero gratis waive complimentary
allow permit let may can authorise authorize able entitle right
forbid prohibit ban disallow bar
require need must necessary mandatory compulsory oblige obligatory have
buy purchase acquire
begin start commence launch open initiate
end finish conclude stop terminate expire close cease
help assist aid support
big large great huge major
small little tiny minor
show display demonstrate indicate reveal present
use utilise utilize employ apply
get receive obtain gain
give provide supply offer grant deliver issue
increase rise grow raise climb
decrease fall drop reduce decline lower cut
make produce create manufacture build construct
work operate function run
live reside dwell inhabit
die death decease pass kill
near close nearby next beside
child kid
person people individual human man woman guy
car automobile vehicle
movie film
town city
country nation state
company firm business corporation
job occupation employment position post
doctor physician
shop store
house home
road street
father dad daddy
mother mom mum mommy
nobody none
accept take admit
refund repay repayment reimburse reimbursement repaid
send dispatch ship mail forward
keep retain hold store
change alter modify amend
choose select pick
say state tell report announce declare claim
speak talk
ask request
answer reply respond response
contain include comprise hold have consist
remain stay
weigh weight
last take duration long
height high tall
length long
width wide
depth deep
age old
speed fast quick rapid
shut close
come arrive reach get
go travel leave depart
name call title
write author compose
singer sing vocal vocalist
win victory defeat beat
yearly annual annually year
monthly month
weekly week
daily day
hourly hour
before prior
automatically itself themselves himself herself
immediately once instantly straight
approximately about around roughly nearly almost
usually normally typically generally commonly often
likely probably
maybe perhaps possibly possible
only solely exclusively just
all every each any entire whole
people resident inhabitant citizen population person
injure hurt wound
sick ill
happy glad delighted joyful pleased
sad unhappy miserable
talk chat converse speak
look watch view see observe
boy lad
photo picture photograph image
bike bicycle
dog puppy canine
woman lady female
man male gentleman
girl female
baby infant
ocean sea
jump leap
yell shout scream
smile grin
cook prepare
clean wash
find discover locate
fix repair mend
join enter
own possess have
customer client
worker employee staff
member participant
boss manager
teacher instructor
student pupil
document paper file
contract agreement
notice notification
deadline limit
account profile
password passcode
phone telephone mobile call
sign signature
""")

_ANTONYMS = _pairs("""
open/close shut|allow permit authorise may can/forbid prohibit ban deny refuse disallow
accept/reject refuse decline
increase rise grow raise climb up/decrease fall drop reduce decline shrink lower down cut
more most/less fewer least few|above over/below under beneath
before prior earlier/after later following|first/last|early/late|begin start/end finish stop
include inclusive/exclude exclusive except|minimum/maximum|always/never rarely seldom
all every each everyone/no none nobody few|many much/few little|high/low
large big huge giant enormous/small little tiny miniature|long/short|tall/short|fast quick/slow
hot warm/cold cool|win/lose|buy purchase/sell|borrow/lend|arrive/depart leave|enter/exit leave
inside indoors indoor in/outside outdoors outdoor out|left/right|north northern/south southern
east eastern/west western|top/bottom|front/back rear|male man boy/female woman girl|father/mother
son/daughter|brother/sister|husband/wife|king/queen|he him his/she her hers|uncle/aunt
young/old elderly|new/old|good best better/bad worst worse|positive/negative|true/false
correct right/incorrect wrong|legal lawful/illegal unlawful|valid/invalid|safe/unsafe dangerous
active/inactive|visible/invisible|public/private|rich wealthy/poor|strong/weak|heavy/light
full/empty|wet/dry|clean/dirty|happy glad/sad unhappy|alive living/dead
succeed success/fail failure|pass/fail|love like/hate dislike|support/oppose|agree/disagree
approve/reject disapprove|gain profit/loss lose|credit/debit|deposit/withdraw withdrawal
import/export|internal/external|domestic/foreign|mandatory compulsory required/optional voluntary
necessary/unnecessary|possible/impossible|likely/unlikely|available/unavailable|able/unable
eligible/ineligible|permanent/temporary|fixed/variable|simple easy/complex difficult hard
day daytime/night nighttime|morning/evening|summer/winter|sunrise/sunset|weekday/weekend
today/tomorrow yesterday|past/future|together/alone separately|same identical/different
near close nearby/far away distant|wide/narrow|thick/thin|deep/shallow|loud noisy/quiet silent
sitting sit/standing stand|asleep sleeping sleep/awake|standing/lying|walk walking/run running
laugh smile/cry frown|push/pull|indoor/outdoor|on/off|with/without|present attend/absent
exceed/below|ascend/descend|expand/contract shrink|create build/destroy demolish|attack/defend
friend ally/enemy|victory/defeat|majority/minority|forward/backward|upper/lower|upward/downward
inbound/outbound|paid/unpaid|used/unused|known/unknown|locked lock/unlocked unlock
enabled enable/disabled disable|required/forbidden|healthy/sick ill|teacher/student|doctor/patient
employer/employee|buyer/seller|landlord/tenant|lender/borrower|parent/child|guilty/innocent
married/single divorced|pro/con|ancient/modern|old/modern|crowded/deserted empty|shallow/deep
smooth/rough|soft/hard|sharp/blunt|tight/loose|straight/crooked curly|beautiful pretty/ugly
bright/dark dim|cheap inexpensive/expensive costly|lead/follow|save/spend|remember/forget
""")

_TAXONOMY = _groups("""
second minute hour day week month quarter year decade century
once twice thrice
half third quarter
euro dollar pound yen franc rupee rouble krone cent penny
daily weekly monthly quarterly yearly
red blue green yellow orange purple pink brown black white grey gray violet turquoise silver gold
monday tuesday wednesday thursday friday saturday sunday
spring summer autumn winter
mercury venus earth mars jupiter saturn uranus neptune pluto
breakfast lunch dinner supper
morning afternoon evening night
coffee tea water beer wine juice milk whiskey vodka soda lemonade champagne
kitchen bathroom bedroom garage basement attic hallway cellar garden
wood metal plastic glass stone steel iron copper brick paper leather cotton wool
guitar piano violin drum flute trumpet saxophone cello harp clarinet banjo accordion trombone
carrot potato tomato onion cucumber cabbage broccoli spinach lettuce corn eggplant
dog cat horse cow sheep goat pig bird fish rabbit mouse elephant lion tiger bear
""")


def groups(word: str) -> frozenset[int]:
    """Return the groups of synonyms that a stem is in."""
    return _SYNONYMS.get(word, frozenset())


def synonyms(left: str, right: str) -> bool:
    """Whether two stems share a group of synonyms."""
    return not _SYNONYMS.get(left, frozenset()).isdisjoint(_SYNONYMS.get(right, frozenset()))


def antonyms(left: str, right: str) -> bool:
    """Whether two stems are opposites."""
    return right in _ANTONYMS.get(left, frozenset())


def siblings(left: str, right: str) -> bool:
    """Whether two stems are different members of one closed class (colours, weekdays…)."""
    if left == right:
        return False
    return not _TAXONOMY.get(left, frozenset()).isdisjoint(_TAXONOMY.get(right, frozenset()))


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEGATIONS = _set(
    "not no never none neither nor nobody nothing nowhere without cannot n't hardly barely "
    "nicht kein keine keinen keinem keiner nie niemals ohne weder pas jamais ningún nunca sin"
)
"""Words that deny what they govern, in lower case."""

NEGATIVE = _set(
    "free without except excluding exclude excluded excludes unless until lack lacks lacked "
    "lacking absent absence refuse refuses refused deny denies denied prohibit prohibits "
    "prohibited prohibition forbid forbidden forbids forbade ban bans banned fail fails failed "
    "failure failing neither unlikely impossible unable prevent prevents prevented avoid avoids "
    "avoided waive waived waives zero only little few rarely seldom instead rather stop stops "
    "stopped closed close closes ended ends reject rejects rejected decline declines declined "
    "against cancel cancelled canceled loss lost lose void null ineligible invalid disallow "
    "disallowed bar barred exempt exempted exemption missing other different outside wrong false "
    "beyond apart incorrect foreign abroad but however although though despite yet "
    "ausgeschlossen verboten untersagt exclusive solely alone last cease ceased no-one"
)
"""Words that can stand for a negation in another wording."""

FAILURE = _set("fail fails failed failing refuse refuses refused lack lacks lacked lacking "
               "unlikely unable deny denies denied decline declines declined")  # fmt: skip
"""Words that deny like "not", so that dropping them turns the sentence round."""

LIGHT = frozenset(
    map(stem, "be have do make take get give go come use say tell show see find know let keep put "
        "set call become seem include consist contain exist happen occur remain lie located "
        "available certain various other another per way thing kind type part fact case example "
        "also however therefore there accord amount number total time way addition".split())
)  # fmt: skip
"""Stems so common that their presence or absence proves little."""

HEDGES = _set(
    "may might could can possibly perhaps maybe probably likely usually normally typically "
    "generally often sometimes occasionally frequently commonly mostly mainly largely apparently "
    "reportedly allegedly supposedly presumably expected estimated planned intended proposed "
    "suggests suggest suggested suggesting appears appear seems seem potentially "
    "unlikely tends tend rarely nearly almost partly partially planning plans intends hopes "
    "considering discusses discussed möglicherweise vielleicht wahrscheinlich kann können "
    "meistens normalerweise üblicherweise"
)
DOWNWARD = _set("every each all any few only if unless when kein alle jeder")
"""Words under which a longer sentence says less, and a shorter one more."""

CERTAINTY = _set(
    "definitely certainly guaranteed guarantee guarantees guaranteeing always undoubtedly "
    "invariably inevitably automatically immediately unconditionally "
    "completely entirely fully absolutely exactly precisely must garantiert immer stets"
)
CONDITIONS = _set(
    "if unless provided except excepting only excluding subject depending conditional "
    "wenn falls sofern außer"
)
REASONS = _set("because since due owing therefore hence thus consequently thanks caused weil wegen")
QUANTIFIERS = {
    "few": 1, "some": 2, "several": 2, "certain": 2, "many": 3, "numerous": 3, "most": 4,
    "majority": 4, "mostly": 4, "partly": 2, "all": 5, "every": 5, "each": 5, "always": 5,
    "everyone": 5, "everything": 5, "entire": 5, "whole": 5, "half": 3, "sometimes": 2,
    "usually": 4, "often": 3, "both": 5, "einige": 2, "viele": 3, "meisten": 4, "alle": 5,
    "jede": 5, "jeder": 5, "jedes": 5, "rarely": 1, "occasionally": 2,
}  # fmt: skip
"""Quantifiers by strength."""

PASSIVE = _set("by was were been being is are durch von wurde wurden")
CLAUSE = _set("but although though while whereas however and or nor yet because since when if "
              "unless that which who where so aber oder und sondern während")  # fmt: skip
"""Words that open a clause of their own."""

"""Turns of phrase by which a document speaks to the assistant instead of its readers.

Fixed patterns with bounded gaps; a document is only ever the subject of a match, never a pattern.
In the tables a line is one pattern, `@name` stands for a part from `_PARTS`.
"""

from __future__ import annotations

import re

_PARTS = {
    "@gap": r"(?:\W{1,3}\w+){0,4}?\W{1,3}",
    "@orders": r"(?:instructions?|rules?|prompts?|directions?|guidelines?|commands?|directives?"
    r"|orders|constraints|training|restrictions|safeguards|sources|passages|excerpts)",
    "@earlier": r"(?:all|any|every|previous|prior|above|earlier|preceding|your|existing|other)",
    "@machine": r"(?:ai|a\.i\.|llms?|language[ -]models?|chat[ -]?bots?|gpt\S{0,6}|chatgpt|claude"
    r"|gemini|copilot|virtual assistants?|ai[ -](?:assistants?|models?|systems?|agents?)"
    r"|(?:automated|machine) (?:reader|assistant|summari[sz]er)s?)",
    "@says": r"(?:always |now |only )?(?:say|answer|respond|reply|tell|state|report|claim|ignore"
    r"|output|recommend|cite|write)",
    "@verse": r"(?:answer|respond|reply|say|state|output|claim|report|write|conclude)",
    "@start": r"(?:^|[.!?;:,\n] *|\b(?:and|then|must|please|always|only|should|instead) )",
}

_STRONG = r"""
\b(?:ignore|disregard|forget|override|bypass|overrule|abandon)\b@gap?@earlier\b@gap?@orders\b
\b(?:ignore|disregard|forget)\W{1,3}(?:everything|anything|all|what)\W{1,3}(?:above|before|you)\b
\b(?:do not|don't|stop|never) (?:follow|obey|heed|comply with)\b@gap?@earlier\b@gap?@orders\b
\b(?:your )?new (?:instructions?|task|role|system prompt) (?:is|are|follows?|begins?)\b
\bnew (?:system )?instructions?:
\bfrom now on,? (?:you|always|answer|respond|act)\b
\byou (?:must|will|shall) (?:now )?(?:obey|pretend|act as|ignore)\b
\byou(?: are|'re) (?:now |really )?(?:an?|the) (?:\w+ ){0,3}?(?:assistant|chatbot|llm|ai model)\b
\byou(?: are|'re) (?:now |really )?(?:an?|the) (?:\w+ ){0,3}?language model\b
\byou(?: are|'re) (?:now |really )?an ai\b(?! (?:provider|developer|user|vendor|system pro))
\b(?:if|as|since|because) you(?: are|'re) (?:an?|the) (?:\w+ ){0,2}?@machine\b
\b(?:dear|attention|hey|hello)[,: ]{1,2}(?:all |any |the )?(?:@machine|assistants?|models?)(?=\W)
\b(?:note|message|instructions?|memo|reminder) (?:to|for) (?:all |any |the )?@machine(?=\W)
\b(?:note|message|instructions?) (?:to|for) (?:the )?(?:assistant|model|summari[sz]er)(?=\W)
\b@machine (?:that |who )?(?:reading|processing|summari[sz]ing|answering) (?:this|it|from)\b
\b@machine (?:that |who )?(?:reads?|process(?:es)?|summari[sz]es?) (?:this|it)\b
\b@machine (?:must|should|shall|has to|is to|are to) @says\b
\bas an? (?:ai|llm|(?:ai |large )?language model)\b,
\bthe assistant (?:must|should|shall|will|is to) @says\b
<\|?(?:im_start|im_end|system|assistant|endoftext|begin_of_text|start_header_id)\|?>
\[/?INST\]|<</?SYS>>|\[/?system(?: prompt| message)?\]|</?system(?:[_ -]?(?:prompt|message))?>
(?:^|\n)[ \t#*>-]{0,6}(?:system|assistant)(?: prompt| message| override| note)?[ \t]{0,2}:(?!\w)
(?:^|\n)#{2,4} ?(?:instruction|system|response|assistant)s?\b
\b(?:ignore|disregard|forget)\b(?:\W{1,3}\w+){1,4}\W{1,3}(?:and|then) @verse\b
\b(?:listen to|follow|obey) my (?:instructions?|orders|commands?)\b|\bstate the following:
<?\b(?:system|override|admin|root|debug)[ _]mode\b>?
\bignor\w{1,4}\b@gap(?:et|y|e|und) (?:indique|dit|dis|di|diz|sage)\w{0,3}\b
\bsystem override\b|\bdeveloper mode\b|\bjailbreak\b|\bprompt injection:
\b(?:reveal|print|repeat|output|leak) (?:me )?(?:your|the) (?:\w+ )?(?:system|initial) prompt\b
</?(?:document|context|passage|chunk|source|evidence|retrieved)s?(?: [^<>\n]{0,80})?/?>
(?:^|\n)[ \t>]{0,6}\[\d{1,3}\][ \t]{1,4}(?:chunk|passage|document|doc)[_ -]?id[ \t]{0,2}[:=]
\b(?:end|begin|beginning|start) of (?:the )?(?:\w+ )?(?:context|documents|passages|evidence)\b\]?
\b(?:ignorier\w{0,3}|missacht\w{0,3}|vergiss|vergessen sie)\b@gap(?:anweisung|regel|befehl)
\b(?:ignorier\w{0,3}|missacht\w{0,3}|vergiss|vergessen sie)\b@gap(?:vorgaben?|instruktion\w{0,2})\b
\b(?:du bist|sie sind) (?:nun |jetzt )?(?:ein\w{0,2} )?(?:ki|sprachmodell|ki-\w+|assistent)\b
\b(?:ignor\w{1,4}|oubli\w{1,3})\b@gap(?:instructions?|consignes?|règles?|directives?)\b
\bne ten\w{1,3} pas compte\b@gap(?:instructions?|consignes?|règles?|directives?)\b
\btu es (?:maintenant )?(?:un|une) (?:assistant|ia|modèle)\b
\b(?:ignor[ae]\w{0,2}|olvid[ae]\w{0,2}|omit[ae]\w{0,2})\b@gap(?:instrucciones|reglas|indicaciones)\b
\b(?:ignor[ae]\w{0,2}|desconsidere|esqueça|dimentica)\b@gap(?:instruções|regras|istruzioni|regole)\b
\b(?:eres|você é|sei) (?:ahora |agora |ora )?(?:uma?|un|una) (?:asistente|assistente|ia|modelo)\b
\b(?:negeer|vergeet)\b@gap(?:instructies|regels|opdrachten)\b
\b(?:игнорируй\w{0,2}|забудь\w{0,2})\b@gap(?:инструкци\w|правил\w{0,2}|указани\w)
(?:忽略|无视|無視|忽視|忘记|忘記).{0,12}(?:指令|指示|规则|規則|说明|提示|命令)
(?:指示|命令|ルール|規則|プロンプト).{0,6}(?:無視|忘れ)|(?:^|[。.\s])無視して
(?:지시|명령|규칙|지침).{0,6}(?:무시|잊)
تجاهل.{0,24}(?:التعليمات|الأوامر|القواعد)
התעלם.{0,24}(?:ההוראות|הכללים)
(?:निर्देश|नियम).{0,16}(?:अनदेखा|नज़रअंदाज़|अनदेखी)
"""

_WEAK = r"""
@start(?:tell|inform|assure|convince|persuade|advise|ask) (?:the |your |every |any |all )?users?\b
@start(?:tell|inform|assure|convince|persuade|advise|ask) (?:the )?(?:readers?|asker|questioner)\b
@start@verse(?: only)?(?: (?:that|with|exactly|the following|in|as)\b|:| [\"“'])
\bin (?:your|the) (?:response|reply|answer|output|summary|final answer)\b
\b(?:to|of|from) your (?:response|reply|answer|output|summary)\b
\bwhen(?:ever)? (?:you )?(?:answer|respond|summari[sz]e|asked|generate|cite|quote)\b
\bwhen (?:answering|responding|summari[sz]ing|generating|citing|quoting)\b
\b(?:do not|don't|never) (?:mention|reveal|disclose|cite|quote|tell|show)\b[^.\n]{0,40}\busers?\b
\b(?:do not|don't|never) (?:mention|reveal|cite)\b[^.\n]{0,40}\bthis (?:instruction|note|text)\b
\b(?:cite|quote) (?:only )?this (?:passage|document|source|text|page)\b
\b(?:other|remaining) (?:passages|documents|sources) (?:are|is) (?:wrong|false|unreliable|fake)\b
"""


def _expand(line: str) -> str:
    for name, part in _PARTS.items():
        line = line.replace(name, part)
    return line


STRONG = re.compile("|".join(map(_expand, _STRONG.strip().splitlines())), re.IGNORECASE)
"""Text that speaks to a model: one is enough."""

WEAK = tuple(re.compile(_expand(line), re.IGNORECASE) for line in _WEAK.strip().splitlines())
"""Text that may speak to a model or to people: two different ones are needed."""

FURTHER = re.compile(
    r"\W*(?:and |then |also |now |please |instead,? )*(?:you(?:r|'re)?|tell|inform|assure|say"
    r"|answer|respond|reply|cite|quote|mention|state|claim|write|report|act|pretend|treat|use"
    r"|do not|don't|never|always|only)\b",
    re.IGNORECASE,
)
"""How one more order begins; it counts only right behind text that speaks to a model."""

HINT = re.compile(
    r"ignor|disregard|forget|overrid|bypass|overrul|abandon|follow|obey|heed|comply|instruction"
    r"|task|role|from now|you (?:must|will|shall|are)|you're|\bai\b|\ba\.i\.|llm|model|chat|gpt"
    r"|claude|gemini|copilot|assistant|machine|automated|system|developer mode|jailbreak|prompt"
    r"|inst\]"
    r"|sys>>|im_|endoftext|begin_of|header_id|#{2}|response|document|context|passage|chunk|source"
    r"|evidence|retrieved|missacht|vergiss|vergessen|du bist|sie sind|oubli|ne ten|tu es|olvid|omit"
    r"|desconsidere|esqueça|dimentica|eres |você|sei |negeer|vergeet|игнорируй|забудь|忽|无视|無視"
    r"|忘|무시|잊|تجاهل|התעלם|अनदेख|नज़रअंदाज़|tell|inform|assure|convince|persuade|advise|ask"
    r"|answer|respond|reply|\bsay|state|output|claim|report|write|conclude|summar|user|reader"
    r"|cite|citing|quot|mention|reveal|generat",
    re.IGNORECASE,
)
"""A cheap test that every pattern implies."""

HUMANS = re.compile(
    r"\b(?:agents?|staff|employees?|operators?|clerks?|representatives?|tellers?|advis[eo]rs?|"
    r"callers?|customers?|clients?|guests?|visitors?|patients?|residents?|members?|students?|"
    r"receptionists?|managers?|volunteers?|nurses?|drivers?|technicians?|phones?|telephone|"
    r"calls?|counter|desk|e-?mails?|letters?|forms?|dialog(?:ue)? box|button|screen)\b",
    re.IGNORECASE,
)
"""People and channels: instructions beside them are meant for people."""

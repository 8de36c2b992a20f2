"""Countries and their peoples: which names are one place, and which are not."""

from __future__ import annotations

_PLACES = """
american america us usa u.s u.s.a states
british britain uk u.k kingdom england english
norway norwegian|denmark danish dane|sweden swedish swede|finland finnish finn|poland polish pole
spain spanish spaniard|france french frenchman|germany german|netherlands dutch holland|greece greek
turkey turkish turk|switzerland swiss|ireland irish|scotland scottish scot|wales welsh|china chinese
japan japanese|russia russian|ukraine ukrainian|belgium belgian|portugal portuguese|israel israeli
iraq iraqi|pakistan pakistani|thailand thai|philippines filipino|czech czechia|iceland icelandic
argentina argentine argentinian|brazil brazilian|canada canadian|mexico mexican|peru peruvian
europe european eu|asia asian|africa african|australia australian|new-zealand kiwi|egypt egyptian
soviet ussr
"""
_COUNTRIES = """
afghanistan albania algeria angola argentina armenia australia austria azerbaijan bangladesh
belarus belgium bolivia bosnia botswana brazil bulgaria cambodia cameroon canada chad chile china
colombia congo croatia cuba cyprus czechia denmark ecuador egypt estonia ethiopia fiji finland
france gabon georgia germany ghana greece guatemala guinea haiti honduras hungary iceland india
indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kosovo kuwait laos
latvia lebanon liberia libya lithuania luxembourg macedonia madagascar malaysia mali malta mexico
moldova monaco mongolia morocco mozambique myanmar namibia nepal netherlands nicaragua niger
nigeria norway oman pakistan panama paraguay peru philippines poland portugal qatar romania russia
rwanda senegal serbia singapore slovakia slovenia somalia spain sudan sweden switzerland syria
taiwan tanzania thailand togo tunisia turkey uganda ukraine uruguay usa uk venezuela vietnam yemen
zambia zimbabwe england scotland wales
afghan albanian algerian american argentinian armenian australian austrian belgian bolivian
brazilian british bulgarian cambodian canadian chilean chinese colombian croatian cuban czech
danish dutch egyptian english estonian ethiopian filipino finnish french german ghanaian greek
hungarian icelandic indian indonesian iranian iraqi irish israeli italian jamaican japanese
jordanian kenyan korean kuwaiti latvian lebanese libyan lithuanian malaysian maltese mexican
mongolian moroccan nepalese nigerian norwegian pakistani palestinian panamanian peruvian polish
portuguese romanian russian saudi scottish senegalese serbian slovak slovenian somali spanish
sudanese swedish swiss syrian taiwanese thai tunisian turkish ugandan ukrainian venezuelan
vietnamese welsh
"""
_COUNTRY_NAMES = frozenset(_COUNTRIES.split())
_PLACE_GROUPS = {
    word: number
    for number, row in enumerate(_PLACES.replace("\n", "|").strip("|").split("|"))
    for word in row.split()
}


def other_place(left: str, right: str) -> bool:
    """Whether two lower-case words name different countries or peoples."""
    if left not in _COUNTRY_NAMES or right not in _COUNTRY_NAMES or left == right:
        return False
    return not same_place(left, right) and left[:5] != right[:5]


def same_place(left: str, right: str) -> bool:
    """Whether two lower-case names are a place and its people or another name of it."""
    return left in _PLACE_GROUPS and _PLACE_GROUPS[left] == _PLACE_GROUPS.get(right)

#!/usr/bin/env python3
"""First sentences and their titles.

  headlines.py own PART          lines of sentence TAB title of a small set of our own; PART is train, dev, test or hand
  headlines.py split FILE PART   the same of a user's lines; PART is train, dev or test: nine tenths, and a twentieth each
  headlines.py lead PAIRS COUNT  the first words of every sentence: what a title must be better than
  headlines.py rouge PAIRS TITLES...
                                 ROUGE-1, ROUGE-2 and ROUGE-L, F1, mean over sentences, of each file of titles

Of the set of our own, templates made the parts train, dev and test, so that sentences of the test are new, and their patterns
are not. by_hand.tsv was written by hand: its even lines are in train, its odd ones are the part hand.
"""
import collections
import os
import random
import re
import sys
import zlib

COUNTRIES = [pair.split("/") for pair in (
    "russia/russian france/french germany/german japan/japanese brazil/brazilian kenya/kenyan canada/canadian norway/norwegian "
    "poland/polish turkey/turkish mexico/mexican india/indian egypt/egyptian chile/chilean spain/spanish italy/italian "
    "greece/greek finland/finnish peru/peruvian vietnam/vietnamese").split()]

# Invented, and so many that most are seen once or never: what to do with rare words is the difficulty of headlines.
NAMES = [start + end for start in (
    "al bar bel bor cal cor dal del dor fal fen gar gor hal hol jar kal kel kor lam lor mal mar mel nar nor ol par pel por ras "
    "rol sal sel sor tal tar tol val vel vor wal zel zor").split() for end in (
    "ado anen anko ardi berg dottir eira enko etti ides iewicz ikov inen ingham ioglu ishima oshi ossa quist rud sen stad uchi "
    "ulescu wala worth").split()]

CITIES = (
    "moscow paris berlin tokyo brasilia nairobi ottawa oslo warsaw ankara delhi cairo santiago madrid rome athens helsinki lima "
    "hanoi geneva vienna lisbon dublin prague").split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()

# What a name in braces stands for. A choice of several parts is for several names, which follow a dot: {problem.long}.
CHOICES = {
    "office": "defense/interior/finance/transport/health/energy/trade".split("/"),
    "body": ["joint front", "joint force", "common fund", "regional council", "special court", "shared database"],
    "doing": ["combating", "fighting", "preventing"],
    "problem": [{"long": "global terrorism", "short": "terrorism"}, {"long": "organized crime", "short": "crime"},
                {"long": "illegal fishing", "short": "illegal fishing"}, {"long": "large forest fires", "short": "fires"},
                {"long": "computer fraud", "short": "fraud"}, {"long": "the drug trade", "short": "drugs"}],
    "topic": "trade/security/energy/fishing/migration/water/visas/tariffs".split("/"),
    "thing": ["smoking", "plastic bags", "fireworks", "mobile phones", "loud music", "wood fires"],
    "place": ["schools", "restaurants", "parks", "hospitals", "city centers", "trains"],
    "number": "three four five six seven eight nine ten eleven twelve twenty thirty".split(),
    "crime": ["fraud", "smuggling", "car theft", "bribery", "forgery", "tax evasion"],
    "disaster": [{"long": f"{'an' if word[0] in 'ae' else 'a'} {word}", "short": word}
                 for word in "earthquake flood storm landslide fire avalanche".split()],
    "part": ["the north", "the south", "the east", "the west", "the center"],
    "company": "nordmetal/astrafon/belcar/oceanair/vitapharm/zenotel/agrolux/steelco".split("/"),
    "percent": "4 6 8 11 14 17 22 35".split(),
    "quarter": "first second third fourth".split(),
    "nth": "third fourth fifth sixth seventh".split(),
    "goods": ["phones", "trucks", "medicines", "tickets", "tractors", "batteries"],
    "jobs": "200 300 500 800 1,200 3,000".split(),
    "accusation": ["breaking the treaty", "spying", "blocking trade", "violating its airspace", "dumping waste at sea"],
    "team": "rovers united rangers wanderers athletic dynamo olympic sporting".split(),
    "score": "1-0 2-0 2-1 3-1 3-2 4-0".split(),
    "round": ["final", "semifinals", "quarterfinals", "second round"],
    "race": ["marathon", "downhill", "ten kilometers", "sprint", "road race", "regatta"],
    "workers": "teachers nurses miners pilots dockers drivers".split(),
    "finding": ["water", "a new species of frog", "a rare metal", "fossils of a bird", "a lost city", "a large cave"],
    "where": ["the desert", "the mountains", "the rain forest", "a river valley", "the ice"],
    "building": ["a new bridge", "a new library", "a new hospital", "a new stadium", "a new metro line"],
    "weather": "snow fog rain wind".split(),
    "project": "roads railways schools hospitals housing satellites".split(),
    "good": "oil wheat coffee copper sugar gold".split(),
    "reason": [{"long": "a strike stopped exports", "short": "strike"}, {"long": "a storm closed several ports", "short": "storm"},
               {"long": "reports of a large harvest", "short": "harvest reports"},
               {"long": "new figures on growth in asia", "short": "growth figures"}],
    "move": [{"past": "rose", "now": "rise"}, {"past": "fell", "now": "fall"}],
    "prize": ["peace prize", "book prize", "poetry prize", "history prize"],
}

TEMPLATES = [line.split(" => ") for line in """
{a.of} {office} minister {name} called {day} for the creation of a {body} for {doing} {problem.long} => {a} calls for {body} against {problem.short}
{a.of} {office} minister {name} urged {b} on {day} to join a {body} against {problem.long} => {a} urges {b} to join {body}
{a.of} {office} minister {name} arrived in {city} {day} for talks with his {b.of} counterpart on {topic} => {a.of} minister in {city} for {topic} talks
the {a.of} parliament on {day} approved a law that bans {thing} in {place} => {a} bans {thing} in {place}
{a.of} police said {day} they had arrested {number} people suspected of {crime} in {city} => {number} arrested in {city} over {crime}
{disaster.long} struck {part} of {a} early {day} , killing at least {number} people and injuring dozens => {disaster.short} kills {number} in {a}
{company} said {day} that its profit rose {percent} percent in the {quarter} quarter on strong sales of {goods} => {company} profit rises {percent} percent
{company} will cut {jobs} jobs at its plant in {city} , the company said {day} => {company} to cut {jobs} jobs in {city}
{a.of} president {name} {day} accused {b} of {accusation} => {a} accuses {b} of {accusation}
{team} beat {team2} {score} on {day} to reach the {round} of the national cup => {team} beat {team2} to reach {round}
{name} of {a} won the {race} in {city} on {day} , ahead of {name2} of {b} => {name} wins {race} in {city}
the {a.of} central bank raised its main interest rate by a quarter of a point on {day} to slow inflation => {a.of} central bank raises rates
thousands of {workers} went on strike in {city} on {day} to demand higher pay and shorter hours => {workers} strike in {city} over pay
{a.of} scientists said {day} they had found {finding} in {where} of {b} => {a.of} scientists find {finding} in {b}
the mayor of {city} , {name} , opened {building} on {day} after {number} years of work => {city} mayor opens {building}
heavy {weather} closed the airport of {city} on {day} and left thousands of passengers waiting => {weather} closes {city} airport
the {a.of} government said {day} it would spend {jobs} million dollars on {project} over the next {number} years => {a} to spend {jobs} million on {project}
{a} and {b} signed an agreement on {topic} in {city} on {day} after {number} months of talks => {a} , {b} sign {topic} agreement
{good} prices {move.past} sharply on {day} after {reason.long} => {good} prices {move.now} after {reason.short}
{a.of} writer {name} was awarded the {prize} in {city} on {day} for a novel about her childhood => {name} wins {prize}
{a.of} opposition leader {name} said {day} that she would not run in the election next year => {a.of} opposition leader will not run
a court in {city} sentenced former {office} minister {name} to {number} years in prison on {day} for {crime} => former minister {name} gets {number} years for {crime}
a painting that was stolen from a museum in {city} {number} years ago has been found in {a} , police said {day} => stolen painting found in {a}
{a.of} foreign minister {name} warned {day} that talks on {topic} could fail without new offers from {b} => {a} warns {topic} talks could fail
{a.of} president {name} met {b.of} prime minister {name2} in {city} {day} to discuss {topic} => {a.of} , {b.of} leaders discuss {topic}
{team} coach {name} resigned {day} after his side lost its {nth} match in a row => {team} coach {name} resigns
""".strip().splitlines()]

# The sentence that the recipe draws is not to be in the data, nor what is asked for in it.
NEVER = ("joint front", "terrorism")


def own(part):
    """The lines of a part of the small set, always the same."""
    stream = random.Random("headlines")

    def pick(values):
        return values[int(stream.random() * len(values))]  # only random() is promised to stay the same in other versions

    def filled(source, title):
        values = {}
        for name in re.findall(r"{(\w+)", source):
            if name in ("a", "b"):
                country, nation = pick([pair for pair in COUNTRIES if pair[0] not in values.values()])
                values[name], values[name + ".of"] = country, nation
                continue
            kind = name.rstrip("2")
            choices = {"name": NAMES, "city": CITIES, "day": DAYS}.get(kind) or CHOICES[kind]
            choice = pick([one for one in choices if one not in values.values()])
            if isinstance(choice, dict):
                values.update((f"{name}.{form}", text) for form, text in choice.items())
            elif name not in values:
                values[name] = choice
        return tuple(re.sub(r"{([\w.]+)}", lambda match: values[match[1]], text) for text in (source, title))

    made = []
    while len(made) < 2080:
        pair = filled(*TEMPLATES[len(made) % len(TEMPLATES)])
        if pair not in made and not all(words in pair[0] for words in NEVER):
            made.append(pair)
    made.sort(key=lambda pair: stream.random())
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "by_hand.tsv"), encoding="utf-8") as file:
        hand = [tuple(line.rstrip("\n").split("\t")) for line in file]
    return {"train": made[:1780] + hand[1::2], "dev": made[1780:1880], "test": made[1880:], "hand": hand[::2]}[part]


def split(path, part):
    """The user's lines of a part, chosen by what is in them: the same line twice is not in two parts."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\r\n").split("\t")
            if len(fields) < 2 or not fields[0].strip() or not fields[1].strip():
                continue
            number = zlib.crc32(fields[0].encode()) % 20
            if part == {0: "test", 1: "dev"}.get(number, "train"):
                yield fields[0], fields[1]


def rouge(title, reference):
    """F1 of words, of pairs of words, and of the longest common subsequence, as rouge-score counts them, without stemming."""
    a, b = (re.findall("[a-z0-9]+", text.lower()) for text in (title, reference))

    def f1(common, of_a, of_b):
        return 2 * common / (of_a + of_b) if common else 0.0

    scores = []
    for n in (1, 2):
        x, y = (collections.Counter(zip(*(words[i:] for i in range(n)))) for words in (a, b))
        scores.append(f1(sum((x & y).values()), sum(x.values()), sum(y.values())))
    row = [0] * (len(b) + 1)
    for word in a:
        above, row = row, [0]
        for j, other in enumerate(b):
            row.append(above[j] + 1 if word == other else max(above[j + 1], row[j]))
    return scores + [f1(row[-1], len(a), len(b))]


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def main(arguments):
    command, rest = (arguments or [""])[0], arguments[1:]
    if command == "own" and len(rest) == 1 and rest[0] in ("train", "dev", "test", "hand"):
        for pair in own(rest[0]):
            print(*pair, sep="\t")
    elif command == "split" and len(rest) == 2 and rest[1] in ("train", "dev", "test"):
        for pair in split(*rest):
            print(*pair, sep="\t")
    elif command == "lead" and len(rest) == 2:
        for line in lines_of(rest[0]):
            print(*line.split("\t")[0].split()[:int(rest[1])])
    elif command == "rouge" and len(rest) > 1:
        references = [line.split("\t")[1] for line in lines_of(rest[0])]
        for path in rest[1:]:
            titles = lines_of(path)
            if len(titles) != len(references):
                sys.exit(f"headlines.py: {path}: expected {len(references)} titles, got {len(titles)}")
            sums = [sum(values) for values in zip(*map(rouge, titles, references))]
            print(path, *(f"{100 * value / len(references):.2f}" for value in sums), sep="\t")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

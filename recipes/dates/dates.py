#!/usr/bin/env python3
"""Dates as people write them, and what they are in ISO 8601.

  dates.py pairs PART COUNT
      Lines of source, ISO date, format, language, and yes where a word is misspelt, with tabs between them. PART is train,
      dev or test, which have no day in common.
  dates.py check [STEP]
      That every source has one answer, for each STEP-th day.
  dates.py table PAIRS ANSWERS TRAIN
      How many of the answers, a line for each pair, are right: a table. TRAIN is what the model was trained on, to tell
      which words were new to it.
"""
import collections
import datetime
import random
import re
import sys

FIRST, LAST = datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)  # a hundred years: two digits name one of them
MISSPELT = 0.3  # share of the sources with a month's name in which one word is misspelt

LANGUAGES = ("English", "French", "German")
MONTHS = (
    "January February March April May June July August September October November December".split(),
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
)
SHORT_MONTHS = (
    "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(),
    "janv févr mars avr mai juin juil août sept oct nov déc".split(),
    "Jan Feb März Apr Mai Juni Juli Aug Sept Okt Nov Dez".split(),
)
WEEKDAYS = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
    "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
)

# With slashes the day is first, as in Britain and France, or the year. In America 3/4/2019 is the fourth of March: the string
# alone does not say which one is meant, so America's order is not among these.
FORMATS = {
    "weekday": ("{weekday}, {month} {d}, {y}", "{weekday} {nth} {month} {y}", "{weekday}, {d}. {month} {y}"),
    "long": ("{month} {d}, {y}", "{nth} {month} {y}", "{d}. {month} {y}"),
    "article": ("the {nth} of {month} {y}", "le {nth} {month} {y}", "am {d}. {month} {y}"),
    "short": ("{d} {mon} {y}", "{nth} {mon}{dot} {y}", "{d}. {mon}{dot} {y}"),
    "stamp": ("{dd}-{mon}-{y}", "{dd}-{mon}-{y}", "{dd}-{mon}-{y}"),
    "short year": ("{mon} {d}, '{yy}", "{nth} {month} {yy}", "{d}. {month} {yy}"),
    "year first": ("{y}, {month} {d}", "{y}, {nth} {month}", "{y}, {d}. {month}"),
    "numbers": ("{d}/{m}/{y}", "{dd}/{mm}/{y}", "{d}.{m}.{y}"),
    "short numbers": ("{dd}/{mm}/{yy}", "{d}/{m}/{yy}", "{dd}.{mm}.{yy}"),
    "sortable": ("{y}/{mm}/{dd}", "{y}-{mm}-{dd}", "{y}{mm}{dd}"),
}


def nth(day, language):
    """The day's number as the language writes it before the name of a month."""
    if language == 1:
        return "1er" if day == 1 else str(day)
    return f"{day}{'th' if day in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def written(date, pattern, language, **words):
    """The date in that pattern; `words` stand in the place of their own spelling."""
    fields = {
        "weekday": WEEKDAYS[language][date.weekday()],
        "month": MONTHS[language][date.month - 1],
        "mon": SHORT_MONTHS[language][date.month - 1],
        "dot": "" if SHORT_MONTHS[language][date.month - 1] == MONTHS[language][date.month - 1] else ".",
        "nth": nth(date.day, language),
        "d": date.day, "m": date.month, "y": date.year,
        "dd": f"{date.day:02}", "mm": f"{date.month:02}", "yy": f"{date.year % 100:02}",
    }
    fields.update(words)
    return pattern.format(**fields)


def distance(a, b):
    """Letters to insert, drop, replace, or swap with their neighbours, to make b of a."""
    before, row = [], list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y)))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[j] = min(row[j], before[j - 2] + 1)
        before = last
    return row[-1]


def one_edit(word):
    """What a word becomes if a letter is dropped, doubled, replaced, or swapped with its neighbour."""
    found = set()
    for i in range(len(word)):
        if len(word) > 3:
            found.add(word[:i] + word[i + 1:])
        found.add(word[:i] + word[i] + word[i:])
        found.add(word[:i] + word[i + 1:i + 2] + word[i] + word[i + 2:])
        found.update(word[:i] + letter + word[i + 1:] for letter in "abcdefghijklmnopqrstuvwxyz")
    found.discard(word)
    return sorted(found)


NAMES = collections.defaultdict(set)  # of each month, in all languages
for _names in MONTHS + SHORT_MONTHS:
    for _number, _name in enumerate(_names):
        NAMES[_number].add(_name.lower())


def misspellings(name, month, known={}):
    """Those of a month's name that are nearer to it than to any name of another month: people can tell which it is."""
    if name not in known:
        others = [other for number, names in NAMES.items() if number != month for other in names]
        known[name] = [word for word in one_edit(name.lower()) if all(distance(word, other) > 1 for other in others)]
    return known[name]


def days_of(part):
    """The days of a part: eight tenths are to train on, one is to choose by, and one for the last line."""
    days = [FIRST + datetime.timedelta(n) for n in range((LAST - FIRST).days + 1)]
    stream = random.Random("the parts of a century")
    days.sort(key=lambda day: stream.random())  # only random() is promised to stay the same in other versions
    a, b = len(days) * 8 // 10, len(days) * 9 // 10
    return {"train": days[:a], "dev": days[a:b], "test": days[b:]}[part]


def pairs(part, count):
    """So many different sources with their dates; a part's first ones are the same for any count."""
    stream = random.Random(f"dates, {part}")

    def pick(values):
        return values[int(stream.random() * len(values))]

    days, formats = days_of(part), list(FORMATS.items())
    answers = {}
    while len(answers) < count:
        date, (name, patterns), language = pick(days), pick(formats), int(stream.random() * len(LANGUAGES))
        pattern, words = patterns[language], {}
        fields = [field for field in ("weekday", "month", "mon") if "{" + field + "}" in pattern]
        if fields and stream.random() < MISSPELT:
            field = pick(fields)
            if field == "weekday":
                words[field] = pick(one_edit(WEEKDAYS[language][date.weekday()].lower()))
            else:
                names = MONTHS if field == "month" else SHORT_MONTHS
                choices = misspellings(names[language][date.month - 1], date.month - 1)
                if choices:
                    words[field] = pick(choices)
        source = written(date, pattern, language, **words)
        answer = date.isoformat()
        if answers.setdefault(source, (answer,))[0] != answer:
            sys.exit(f"dates.py: {source} is both {answers[source][0]} and {answer}")
        if len(answers[source]) == 1:
            answers[source] = (answer, name, LANGUAGES[language], "yes" if words else "no")
    return answers


def check(step):
    """In lower case, as the model reads it, a source is one date, and a misspelt month is one month."""
    answers = {}
    for n in range(0, (LAST - FIRST).days + 1, step):
        date = FIRST + datetime.timedelta(n)
        for patterns in FORMATS.values():
            for language, pattern in enumerate(patterns):
                source = written(date, pattern, language).lower()
                if answers.setdefault(source, date) != date:
                    sys.exit(f"dates.py: {source} is both {answers[source]} and {date}")
    months, count = {}, 0
    for names in MONTHS + SHORT_MONTHS:
        for month, name in enumerate(names):
            for word in misspellings(name, month):
                if months.setdefault(word, month) != month:
                    sys.exit(f"dates.py: {word} is both month {months[word] + 1} and month {month + 1}")
            count += 1
    print(f"{len(answers)} sources have one date each, {len(months)} misspellings of {count} names one month each")


def words_in(source):
    return re.findall(r"[^\W\d_]+", source.lower())


def table(pairs_file, answers_file, train_file):
    """Right answers of a hundred, by format and language, and with misspellings; then what was wrong."""
    with open(train_file, encoding="utf-8") as file:
        known = {word for line in file for word in words_in(line.split("\t")[0])}
    with open(pairs_file, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    with open(answers_file, encoding="utf-8") as file:
        answers = [line.rstrip("\n") for line in file]
    if len(rows) != len(answers):
        sys.exit(f"dates.py: expected {len(rows)} answers, got {len(answers)}")
    right, total = collections.Counter(), collections.Counter()
    for (source, date, name, language, misspelt), answer in zip(rows, answers):
        lines = [name, "all"] + ["misspelt"] * (misspelt == "yes") + ["new word"] * (not known.issuperset(words_in(source)))
        for key in [(line, column) for line in lines for column in (language, "all")]:
            total[key] += 1
            right[key] += date == answer
    columns = LANGUAGES + ("all",)
    print(f"{'exact, %':<14}" + "".join(f"{column:>9}" for column in columns) + f"{'sources':>9}")
    for name in list(FORMATS) + ["misspelt", "new word", "all"]:
        shares = [100 * right[name, c] / total[name, c] if total[name, c] else float("nan") for c in columns]
        print(f"{name:<14}" + "".join(f"{share:9.2f}" for share in shares) + f"{total[name, 'all']:9}")
    wrong = [(row[0], row[1], answer) for row, answer in zip(rows, answers) if row[1] != answer]
    for source, date, answer in wrong[:10]:
        print(f"wrong: {source} is {date}, not {answer}")
    if len(wrong) > 10:
        print(f"... and {len(wrong) - 10} more")


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "pairs" and arguments[1] in ("train", "dev", "test"):
        for source, rest in pairs(arguments[1], int(arguments[2])).items():
            print(source, *rest, sep="\t")
    elif arguments and arguments[0] == "check" and len(arguments) < 3:
        check(int((arguments + ["1"])[1]))
    elif len(arguments) == 4 and arguments[0] == "table":
        table(*arguments[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

"""The sentences that make.py measures: predictions with their references, written for these tests.

Sets are lists of (prediction, [references]); what is odd about a pair is what it is there for.
"""

ODD = [
    # Nothing on one side or on both, and nothing to complain of.
    ("", ["Nothing was said."]),
    ("Nothing was said.", [""]),
    ("", [""]),
    ("   ", ["\t \n"]),
    ("The ferry leaves at noon.", ["The ferry leaves at noon."]),
    ("a", ["a"]),
    ("a", ["b"]),
    # Case, quotes, entities.
    ("the ferry leaves at noon", ["The ferry leaves at NOON."]),
    ('She wrote "soon" on the door.', ["She wrote 'soon' on the door."]),
    ("&quot;Come in,&quot; said the cook.", ['"Come in," said the cook.']),
    ("Salt &amp; pepper: 2 &lt; 5 &gt; 3 &nbsp;", ["Salt & pepper: 2 < 5 > 3"]),
    ("&amp;quot; stays and &amp;lt; does not", ["\" stays and < does not"]),
    ("It's the boys' dog's bone, isn't it?", ["It is the dog's bone of the boys, isn't it?"]),
    # Numbers, stops and hyphens.
    ("He paid 3.14 euros, not 3,140.", ["He paid 3.14 euros , not 3,140 ."]),
    ("The train at 10:30 was late.", ["The 10:30 train was late."]),
    ("Wait... what?! U.S.A. e.g., etc.", ["Wait ... what ?! USA, e.g. etc."]),
    ("x..5 5..x .5 5. ,,, 1,2,3 x,5 5,x ...", ["x . .5 5 .. x . 5 5 . , , , 1,2,3 x , 5 5 , x"]),
    ("1990-2000, 5--6, 7-, -8 and 9-a", ["1990 - 2000, 5 -- 6, 7 -, - 8 and 9 - a"]),
    ("A well-known twenty-five-year-old oak", ["A well known 25-year-old oak"]),
    ("$5.00-$6.50 (approx.), 20%-30% off!", ["$5.00 to $6.50 (approx.), 20% to 30% off!"]),
    ("{x} [y] (z) ~ ` ^ _ | \\ / @ # $ % * + = ; : ! ? <", ["{x}[y](z)~`^_|\\/@#$%*+=;:!?<"]),
    ("\u0663\u066b\u0661 \uff13.\uff11 1.\u0663 \u0663.1", ["\u0663\u066b\u0661 \uff13 . \uff11 1 . \u0663"]),
    # White space of all kinds, and what mteval leaves out.
    ("  spaces  around \t ", ["spaces around"]),
    ("one\u00a0two\u3000three\u2028four\u200bfive\u2009six", ["one two three four five six"]),
    ("one\x1ctwo\x85three\x1ffour\x0bfive\x7fsix", ["one two three four five six"]),
    ("a hyphen-\nated word\nand more-\n", ["a hyphenated word and more"]),
    ("<skipped>some words are <skipped>left out", ["some words are left out"]),
    # Other letters.
    ("\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002", ["\u4eca\u5929\u7684\u5929\u6c14\u975e\u5e38\u597d\u3002"]),
    ("\u732b\u304c\u5e8a\u3067\u5bdd\u3066\u3044\u308b", ["\u732b\u306f\u5e8a\u306b\u5bdd\u3066\u3044\u307e\u3059"]),
    ("\u042f \u0438\u0434\u0443 \u0434\u043e\u043c\u043e\u0439.", ["\u042f \u0438\u0434\u0443 \u0432 \u0434\u043e\u043c ."]),
    ("\u039f \u039b\u039f\u0393\u039f\u03a3. \u0391\u03a3\u2019 \u03a4\u039f \u03a3\u0391, \u03a3 \u039f\u0394\u039f\u03a3!",
     ["\u03bf \u03bb\u03cc\u03b3\u03bf\u03c2. \u03b1\u03c3\u2019 \u03c4\u03bf \u03c3\u03b1, \u03c3 \u03bf\u03b4\u03bf\u03c2!"]),
    ("\u0130STANBUL ve \u0130zmir", ["i\u0307stanbul ve \u0130ZM\u0130R"]),
    ("\u00c9t\u00e9 STRA\u1e9eE \u212aelvin \u212b", ["\u00e9t\u00e9 stra\u00dfe kelvin \u00e5"]),
    ("cafe\u0301 cr\u00e8me", ["caf\u00e9 cre\u0300me"]),
    ("good \U0001f600\U0001f600 night", ["good \U0001f600 night \U0001f319"]),
    # Words that are repeated, moved, missing.
    ("the the the the", ["the cat"]),
    ("in the morning we left the house", ["we left the house in the morning"]),
    ("d c b a", ["a b c d"]),
    ("b c d e f a", ["a b c d e f"]),
    ("a b a b a b a", ["b a b a b a b"]),
    ("we shall meet again on Monday under the old clock", ["under the old clock we shall on Monday meet again"]),
    ("he gave the book to her yesterday evening", ["yesterday evening he gave her the book"]),
    ("one two", ["one two three four five six seven eight nine ten"]),
    ("one two three four five six seven eight nine ten", ["nine ten"]),
    ("(hi) (hi !a! !! a!", ["( hi ) (hi !a ! ! ! a !"]),
]

# Several references, and not the same number of them.
SEVERAL = [
    ("I am at home.", ["I'm home.", "I am home.", "I'm at home."]),
    ("She closed the window", ["She shut the window.", "The window was closed by her."]),
    ("a b c d", ["a b c", "a b c d e"]),
    ("a b c d", ["a b c d e", "a b c"]),
    ("the cat the cat", ["the cat", "the dog saw the cat on the mat"]),
    ("", ["", "something"]),
    ("something", ["", "something else"]),
    ("He will come tomorrow morning.", ["Tomorrow morning he will come.", "He comes tomorrow.", "He will come."]),
]

# Pronunciations: phones between spaces, and words that are spoken in several ways.
PHONES = [
    ("T AH M EY T OW", ["T AH M EY T OW", "T AH M AA T OW"]),
    ("T OW M AA T OW", ["T AH M EY T OW", "T AH M AA T OW"]),
    ("R UW T", ["R AW T", "R UW T S", "R UW T ER"]),
    ("AY DH ER", ["IY DH ER"]),
    ("N AY T", ["N AY T"]),
    ("", ["HH"]),
    ("K AE T S", ["K AE"]),
]

WORDS = "the a of in to on and not old new red small house river boat child woman man bread stone sees finds takes " \
        "leaves near under over after before morning evening road door window silver quiet slowly again".split()


class Numbers:
    """A generator of its own, so that the sentences are the same with any version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def row(numbers, length, words=WORDS):
    return [words[numbers.below(len(words))] for _ in range(length)]


def changed(numbers, words, percent):
    """The words with some of them replaced, left out, doubled or moved to the front."""
    result = []
    for word in words:
        kind = numbers.below(400)
        if kind >= 4 * percent:
            result.append(word)
        elif kind % 4 == 0:
            result.append(WORDS[numbers.below(len(WORDS))])
        elif kind % 4 == 1:
            result += [word, word]
        elif kind % 4 == 2:
            result.insert(0, word)
    return result


def long_pairs():
    """Lines beyond tercom's limits: on how far words move, on tries, and on the width of the band."""
    numbers = Numbers(1)
    pairs = []
    for length in (30, 80, 150):
        reference = row(numbers, length)
        pairs.append((" ".join(changed(numbers, reference, 20)), [" ".join(reference)]))
        pairs.append((" ".join(reference[length // 2:] + reference[:length // 2]), [" ".join(reference)]))
        pairs.append((" ".join(reversed(reference)), [" ".join(reference)]))
        pairs.append((" ".join(row(numbers, length, WORDS[:4])), [" ".join(row(numbers, length, WORDS[:4]))]))
    words = [f"w{i}" for i in range(80)]
    for length in (10, 11):  # a phrase that may be moved, and one that is too long
        pairs.append((" ".join(words[20:20 + length] + words[:20]), [" ".join(words[:20 + length])]))
    for length in (23, 28):  # words that are so far from the diagonal, in the band and outside of it
        others = [f"x{i}" for i in range(length)]
        pairs.append((" ".join(others + words), [" ".join(words + [other + "y" for other in others])]))
    for predicted, expected in ((1, 120), (2, 150), (120, 2), (60, 90), (90, 60)):
        pairs.append((" ".join(row(numbers, predicted, WORDS[:8])), [" ".join(row(numbers, expected, WORDS[:8]))]))
    return pairs


def short_pairs():
    """Some hundred short sentences of few words, which are moved in many ways."""
    numbers = Numbers(2)
    pairs = []
    for _ in range(300):
        words = WORDS[: 3 + numbers.below(8)]
        pairs.append((" ".join(row(numbers, numbers.below(12), words)), [" ".join(row(numbers, numbers.below(12), words))]))
    return pairs


def systems():
    """References, and three systems: two that are equally good, and one that is worse."""
    numbers = Numbers(3)
    references = [row(numbers, 5 + numbers.below(12)) for _ in range(300)]

    def system(seed, percent):
        numbers = Numbers(seed)
        return [changed(numbers, words, percent) for words in references]

    rows = {"references": references, "first": system(11, 25), "second": system(13, 25), "worse": system(14, 32)}
    return {name: [" ".join(words).capitalize() + "." for words in lines] for name, lines in rows.items()}


SETS = {"odd": ODD, "several": SEVERAL, "phones": PHONES, "long": long_pairs(), "short": short_pairs()}

"""Judgments by facet for the topics of `generate.py`: by judge, by subtopic, and preferences.

Every function makes the lines of one topic; a topic without judgments gets none. Standard library only.
"""

from functools import partial

# The bytewise order of these is neither their numeric nor their alphabetic one.
GROUP_IDS = ("1", "10", "2", "9", "0", "01", "a", "B", "b", "ab", "a1", "S", "s-1", "s.1", "é", "日本")


def documents_of(topic):
    """The documents of a topic, judged or retrieved, bytewise."""
    return sorted({*topic.judged, *(docno for run in topic.runs for docno, _ in run)}, key=str.encode)


def by_judge(rng, topic):
    """Judges who mostly agree with the grades of the topic; each has a grade of 0 or more, because trec_eval crashes on one without."""
    rows = []
    for judge in rng.sample(GROUP_IDS, rng.choice((1, 2, 2, 3, 5))) if topic.judged else ():
        agreement = rng.choice((0.3, 0.8, 1.0))
        grades = {docno: grade if rng.random() < agreement else rng.choice((-2, -1, 0, 0, 1, 2, 3))
                  for docno, grade in topic.judged.items() if rng.random() < agreement}
        if all(grade < 0 for grade in grades.values()):
            grades[next(iter(topic.judged))] = 0
        rows += [(topic.query_id, judge, docno, str(grade)) for docno, grade in grades.items()]
    return rows


def by_subtopic(rng, topic):
    """Few or many subtopics, some or all of them without a relevant document, and documents that few of them name."""
    if not topic.judged:
        return []
    subtopics = [*GROUP_IDS, *map(str, range(20, 50))] if rng.random() < 0.1 else rng.sample(GROUP_IDS, rng.randint(1, 8))
    density, named = rng.choice((0.0, 0.05, 0.3, 0.3, 0.7, 0.7)), rng.choice((0.3, 0.8, 1.0))
    grades = rng.choice(((1,), (1, 2, 3), (-2, -1, 0, 1, 2, 3)))
    return [(topic.query_id, subtopic, docno, str(rng.choice(grades if rng.random() < density else (0, 0, -1))))
            for docno in documents_of(topic) for subtopic in subtopics if rng.random() < named]


def write_level(rng, level):
    return str(int(level)) if level == int(level) and rng.random() < 0.5 else rng.choice(("{!r}", "{:.17g}", "{:.17e}")).format(level)


def group_levels(rng, members):
    """Levels that all sub-groups of a group respect, so that there is no circle: 0 stays 0, some are equal in f32 only."""
    palette = rng.choice(((0, 1), (0, 0, 0, 1, 2, 3), (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3), (0,) * 9 + (1,)))
    levels = {docno: rng.choice(palette) * rng.choice((1, 1, 1, 1 + 1e-9)) for docno in members}
    return {docno: level * rng.choice((1, 0.5)) if palette == (1, 2, 3) else level for docno, level in levels.items()}


def with_negatives(rng, levels):
    """The same, some levels below 0.

    At least as many documents have the lowest level as have one above 0: trec_eval would otherwise read behind the end of a list.
    """
    changed = {docno: -1 if level == 0 and rng.random() < 0.7 else level for docno, level in levels.items()}
    lowest = min(changed.values())
    enough = list(changed.values()).count(lowest) >= sum(level > 0 for level in changed.values())
    return changed if enough else levels


def preferences(rng, topic, subgroups=False, negative=False, repeated=False):
    """Lines of `query group document level`, or of `query group sub-group document level`.

    With `negative` some levels are below 0, and with `repeated` some lines are there twice.
    """
    if not topic.judged:
        return []
    documents, rows = documents_of(topic), []
    pool = rng.sample(documents, min(len(documents), rng.choice((2, 3, 5, 8, 12, 20, 40))))
    for group in rng.sample(GROUP_IDS, rng.choice((1, 1, 2, 3, 4, 6))):
        levels = group_levels(rng, rng.sample(pool, rng.randint(1, len(pool))))
        if negative and rng.random() < 0.6:
            levels = with_negatives(rng, levels)
        names = rng.sample(GROUP_IDS, rng.choice((1, 1, 2, 3, 6))) if subgroups else [None]
        for name in names:
            part = rng.sample(sorted(levels), rng.randint(1, min(len(levels), rng.choice((2, 3, 6, 60))))) if name and len(names) > 1 else levels
            scale = rng.choice((1, 2, 1 / 3, 1e-3))
            for docno in part:
                row = (topic.query_id, group, *([name] if name else []), docno, write_level(rng, levels[docno] * scale))
                rows += [row] * (1 + (repeated and rng.random() < 0.1))
    return rows


GROUPS = {
    "judges": by_judge,
    "subtopics": by_subtopic,
    "preferences": preferences,
    "sub-groups": partial(preferences, subgroups=True),
    "negative preferences": partial(preferences, negative=True),
    "negative sub-groups": partial(preferences, subgroups=True, negative=True),
    "repeated preferences": partial(preferences, repeated=True),
    "repeated sub-groups": partial(preferences, subgroups=True, repeated=True),
}

"""Single edits of real URDFs: none may change the model without a word.

A mutant is a file with one mistake as people make them: a letter too many in a tag, an attribute on
the wrong element, a decimal comma, a missing bracket. Each must be refused by an error of ours, or
warned of, or leave the model as it was, within `PATIENCE`. Edits that make another legal file, a
number for another number or an optional element taken out, are no mistakes that a reader could see
and are not made; what is legal is what some file of the corpus has.

``python tests/fuzz_urdf.py --count 100000`` makes many, ``make fuzz`` likewise.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import random
import re
import signal
import sys
import warnings
from pathlib import Path

from lxml import etree
from support.fuzzing import judge_many

import robodyn as rd
from robodyn import urdf

#: Longest time that a file may take [s].
PATIENCE = 5.0

#: Elements that the reader reads, as a person knows them from the documentation.
READ = frozenset(
    "robot link inertial mass inertia joint origin parent child axis axis2 limit dynamics mimic "
    "pitch loop predecessor successor distance coupling ratio offset motor rotor spring "
    "constraint loop_joint parent_origin child_origin parent_axis child_axis "
    "transmission actuator mechanicalReduction ros2_control command_interface".split()
)
#: What stands in these is for other tools.
FOREIGN = frozenset(
    "visual collision gazebo sensor hardware deformable contact surface self_filter material "
    "collision_checking safety_controller calibration gap_joint".split()
)
#: Left out, these are what the format says they are then.
OPTIONAL_ELEMENTS = frozenset(
    "inertial origin axis axis2 limit dynamics mimic loop coupling motor rotor spring transmission "
    "actuator mechanicalReduction ratio offset ros2_control command_interface constraint "
    "loop_joint parent_origin child_origin parent_axis child_axis".split()
)
OPTIONAL_ATTRIBUTES = {
    "origin": "xyz rpy",
    "parent_origin": "xyz rpy",
    "child_origin": "xyz rpy",
    "limit": "lower upper effort velocity",
    "dynamics": "damping friction spring_stiffness spring_reference",
    "mimic": "multiplier offset",
    "joint": "independent cut",
    "robot": "name",
    "motor": "gear_ratio rotor_inertia axis mounted_on viscous coulomb torque_limit name",
    "spring": "name point1 point2 stiffness rest_length damping",
    "rotor": "axis",
    "actuator": "name",  # of a motor, for people
}
#: Attributes that hold names of things defined elsewhere, or one of a few words.
REFERENCES = frozenset("link joint type mounted_on link1 link2 independent cut".split())
NUMBERS = frozenset(
    "value xyz rpy ixx ixy ixz iyy iyz izz lower upper effort velocity damping friction multiplier "
    "offset gear_ratio rotor_inertia viscous coulomb torque_limit point1 point2 stiffness "
    "rest_length inertia".split()
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


BODY = (
    '<inertial><origin xyz="0 0 0.5"/><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
#: What few files have: closures in all notations, springs, rotors, motors.
NOTATIONS = f"""<robot name="notations">
<link name="a">{BODY}</link><link name="b">{BODY}</link><link name="c">{BODY}</link>
<joint name="i" type="revolute" independent="true"><parent link="a"/><child link="b"/>
<origin xyz="0 1 0" rpy="0.5 0 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1"/>
<dynamics damping="1" friction="0.5" spring_stiffness="2" spring_reference="0.1"/></joint>
<joint name="j" type="helical" independent="false"><parent link="b"/><child link="c"/>
<axis xyz="0 0 1"/><pitch value="0.2"/></joint>
<joint name="k" type="universal" cut="true"><parent link="a"/><child link="c"/>
<origin xyz="0 1 0"/><axis xyz="0 0 1"/><axis2 xyz="0 1 0"/><dynamics damping="1"/></joint>
<joint name="hinge" type="revolute" cut="true"><parent link="a"/><child link="c"/>
<origin xyz="0 1 0"/><axis xyz="0 0 1"/><limit lower="-1.5" upper="1.25" effort="7" velocity="3"/>
<dynamics damping="1" friction="0.5" spring_stiffness="2" spring_reference="0.1"/></joint>
<motor joint="hinge" gear_ratio="20" rotor_inertia="1e-5" torque_limit="2"/>
<loop name="l" type="distance"><predecessor link="a"><origin xyz="0 1 0"/></predecessor>
<successor link="c"/><distance value="1"/><dynamics friction="1"/></loop>
<loop name="slide" type="prismatic"><predecessor link="a"><origin xyz="0 1 0"/></predecessor>
<successor link="c"><origin xyz="0 0 1"/></successor><axis xyz="0 0 1"/>
<limit lower="-0.5" upper="0.25" effort="6" velocity="2"/>
<dynamics damping="1" spring_stiffness="2" spring_reference="0.1"/></loop>
<motor joint="slide" gear_ratio="10" rotor_inertia="1e-6" mounted_on="a"/>
<coupling name="m"><predecessor link="b"/><successor link="c"/><ratio value="2"/>
<offset value="0.1"/></coupling>
<constraint name="n" type="planar"><parent link="a"/><parent_origin xyz="0 1 0"/>
<parent_axis xyz="0 0 1"/><child link="c"/><child_origin xyz="0 1 0"/><child_axis xyz="0 0 1"/>
<dynamics damping="1"/></constraint>
<loop_joint name="o" type="cylindrical"><parent link="a"/><child link="c"/>
<parent_origin xyz="1 0 0"/><child_origin xyz="0 1 0"/><axis xyz="0 0 1"/>
<dynamics damping="1"/></loop_joint>
<motor joint="i" gear_ratio="50" rotor_inertia="1e-4" axis="0 0 1" mounted_on="a" viscous="0.1"
coulomb="0.2" torque_limit="3" name="p"/>
<spring name="q" link1="a" point1="0 0 1" link2="c" point2="0 1 0" stiffness="5" rest_length="1"
damping="0.1"/>
<rotor name="r" link="b" axis="0 0 1" inertia="0.01"/>
</robot>"""


def corpus():
    """Text of the URDFs that the environment has, by a short name."""
    found = {"urdf/robots/notations": NOTATIONS}
    roots = [Path(rd.__file__).parent / "urdf" / "robots"]
    for place in map(Path, sys.path):
        roots += [place / "cmeel.prefix/share/example-robot-data/robots", place / "pybullet_data"]
    for root in dict.fromkeys(roots):
        for path in sorted(root.rglob("*.urdf")) if root.is_dir() else ():
            name = str(path.relative_to(root.parent.parent))
            if "random_urdfs" not in name or path.stem.endswith("00"):  # a thousand of one kind
                found[name] = path.read_text(encoding="utf-8", errors="replace")
    return found


class Seed:
    """A sound file, and what it means.

    Attributes
    ----------
    name, text : str
    root : Element
    model : Mechanism
        Without what is only kept as text.
    warned : list of str
    """

    def __init__(self, name, text):
        self.name, self.text = name, text
        parser = etree.XMLParser(recover=True, remove_comments=False)
        self.root = etree.fromstring(text.encode(), parser)
        self.model, self.warned = loaded(text)
        self.read = [e for e in self.root.iter() if is_read(e)]


def is_read(element):
    """Whether an element, and none around it, belongs to other tools."""
    if element.tag not in READ:
        return False
    return not any(above.tag in FOREIGN for above in element.iterancestors())


def loaded(text):
    """Model of a text, and what it is warned of, without the line."""
    with warnings.catch_warnings(record=True, action="always") as heard:
        mechanism = urdf.load_mechanism(text, allow_unphysical=True)
    return core(mechanism), [re.sub(r"\d+:|line \d+", "", str(w.message)) for w in heard]


def core(mechanism):
    """A mechanism without what is kept as text for other tools."""
    return dataclasses.replace(
        mechanism,
        name="",
        extras=(),
        links=tuple(dataclasses.replace(link, extras=()) for link in mechanism.links),
        joints=tuple(dataclasses.replace(joint, extras=()) for joint in mechanism.joints),
    )


def seeds(names=None):
    """Files of the corpus that can be loaded; ``names``: parts of their names."""
    found = []
    with warnings.catch_warnings(action="ignore"):
        for name, text in corpus().items():
            if names is None or any(part in name for part in names):
                with contextlib.suppress(rd.RobodynError):
                    found.append(Seed(name, text))
    return found


class Legal:
    """What some file of the corpus has: children of elements, attributes of elements."""

    def __init__(self):
        self.children, self.attributes = set(), set()
        for text in corpus().values():
            root = etree.fromstring(text.encode(), etree.XMLParser(recover=True))
            for element in () if root is None else root.iter():
                if isinstance(element.tag, str):
                    above = element.getparent()
                    self.children.add((None if above is None else above.tag, element.tag))
                    self.attributes.update((element.tag, key) for key in element.attrib)


# ---- edits of names


def misspelt(word, rng):
    """A word with one mistake of typing."""
    way = rng.choice(("drop", "double", "swap", "other", "case", "plural", "foreign"))
    i = rng.randrange(len(word))
    if way == "drop" and len(word) > 1:
        return word[:i] + word[i + 1 :]
    if way == "double":
        return word[:i] + word[i] + word[i:]
    if way == "swap" and i + 1 < len(word):
        return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    if way == "other":
        return word[:i] + rng.choice(LETTERS) + word[i + 1 :]
    if way == "case":
        return rng.choice((word.upper(), word.capitalize(), word.swapcase()))
    if way == "foreign":
        return "".join(rng.choices(LETTERS, k=rng.randint(3, 9)))
    return word + "s"


def rename_element(element, rng, legal):
    above = element.getparent()
    name = misspelt(element.tag, rng)
    if name == element.tag or not _name(name):
        return None
    if above is not None and (above.tag, name) in legal.children:
        return None
    element.tag = name
    return f"element renamed {name}"


def rename_attribute(element, rng, legal):
    keys = [key for key in element.attrib if _name(key)]
    if not keys:
        return None
    key = rng.choice(keys)
    name = misspelt(key, rng)
    if name in element.attrib or not _name(name) or (element.tag, name) in legal.attributes:
        return None
    if _optional(element, key) and element.tag in ("robot", "actuator"):
        return None  # the name of a robot, of a motor
    items = [(name if k == key else k, value) for k, value in element.attrib.items()]
    element.attrib.clear()
    element.attrib.update(items)
    return f"attribute {key} renamed {name}"


def _name(text):
    return bool(text) and text[0].isalpha() and ":" not in text and "{" not in text


# ---- edits of places


def duplicate(element, rng, legal):
    if element.getparent() is None:
        return None
    twin = copy.deepcopy(element)
    if rng.random() < 0.5:
        for part in twin.iter():
            if isinstance(part.tag, str):
                for key in part.attrib:
                    if key in NUMBERS:
                        part.set(key, " ".join("0.125" for _ in part.get(key).split()))
    element.addnext(twin)
    return "element twice"


def move_element(element, rng, legal):
    above = element.getparent()
    if above is None:
        return None
    inside = set(element.iter())
    places = [e for e in element.getroottree().iter(*READ, "visual", "collision")]
    places = [e for e in places if e not in inside and e is not above]
    places = [e for e in places if (e.tag, element.tag) not in legal.children]
    places = [e for e in places if not any(a.tag in FOREIGN for a in e.iterancestors())]
    if not places:
        return None
    near = [e for e in places if e in (above.getparent(), *above)]
    place = rng.choice(near if near and rng.random() < 0.7 else places)
    element.tail = None
    place.append(element)
    return f"element moved from {above.tag} to {place.tag}"


def move_attribute(element, rng, legal):
    keys = [key for key in element.attrib if _name(key)]
    above = element.getparent()
    if not keys or above is None:
        return None
    key = rng.choice(keys)
    places = [e for e in (above, *above, *element) if isinstance(e.tag, str) and e is not element]
    places = [e for e in places if e.tag in READ and (e.tag, key) not in legal.attributes]
    if not places or (_optional(element, key) and element.tag == "actuator"):
        return None
    place = rng.choice(places)
    place.set(key, element.get(key))
    del element.attrib[key]
    return f"attribute {key} moved from {element.tag} to {place.tag}"


def delete_element(element, rng, legal):
    if element.tag in OPTIONAL_ELEMENTS or element.getparent() is None:
        return None
    if element.tag in ("joint", "link") and element.getparent().tag != "robot":
        return None  # of a transmission
    if element.tag == "joint" and _closes_loops(element.getroottree().getroot()):
        return None  # what is left may hold together
    element.getparent().remove(element)
    return "element deleted"


def _closes_loops(root):
    """Whether a file has more joints than its links need."""
    children = [joint.find("child") for joint in root.findall("joint")]
    names = [child.get("link") for child in children if child is not None]
    return len(set(names)) < len(names) or root.find("loop") is not None


def delete_attribute(element, rng, legal):
    keys = [key for key in element.attrib if _name(key) and not _optional(element, key)]
    known = [key for key in keys if (element.tag, key) in REQUIRED]
    if not known:
        return None
    key = rng.choice(known)
    del element.attrib[key]
    return f"attribute {key} deleted"


def _optional(element, key):
    return key in OPTIONAL_ATTRIBUTES.get(element.tag, "").split()


REQUIRED = {
    (tag, key)
    for tag, keys in {
        "link": "name", "joint": "name type", "parent": "link", "child": "link", "mass": "value",
        "inertia": "ixx ixy ixz iyy iyz izz", "axis": "xyz", "axis2": "xyz", "mimic": "joint",
        "pitch": "value", "loop": "name type", "predecessor": "link", "successor": "link",
        "motor": "joint", "rotor": "name link", "spring": "link1 link2", "ratio": "value",
        "coupling": "name", "distance": "value", "constraint": "name type",
        "loop_joint": "name type", "parent_axis": "xyz", "child_axis": "xyz",
    }.items()
    for key in keys.split()
}  # fmt: skip


# ---- edits of values


def spoil_reference(element, rng, legal):
    keys = [key for key in element.attrib if key in REFERENCES and element.get(key)]
    if not keys or element.tag in ("transmission", "ros2_control"):
        return None
    key = rng.choice(keys)
    value = element.get(key)
    element.set(key, misspelt(value, rng))
    if element.get(key) == value or element.get(key) in NAMES_OF_KINDS:
        return None
    others = {e.get("name") for e in element.getroottree().iter("link", "joint", "loop")}
    if element.get(key) in others or (element.tag == "transmission"):
        return None
    return f"{key}={value!r} made {element.get(key)!r}"


NAMES_OF_KINDS = frozenset(
    "fixed weld continuous revolute prismatic floating planar ball spherical".split()
)


def spoil_number(element, rng, legal):
    keys = [key for key in element.attrib if key in NUMBERS and element.get(key).strip()]
    if element.tag == "mechanicalReduction" or not keys:
        return None
    key = rng.choice(keys)
    words = element.get(key).split()
    i = rng.randrange(len(words))
    ways = {
        "comma": words[i].replace(".", ",") if "." in words[i] else words[i] + ",5",
        "letter": words[i].replace("0", "O", 1) if "0" in words[i] else words[i] + "O",
        "unit": words[i] + rng.choice(("m", "kg", "rad", "deg", "mm", "%")),
        "exponent": words[i].split("e")[0].split("E")[0] + rng.choice(("e", "e-", "E+")),
        "sign": "--" + words[i],
        "word": rng.choice(("nan", "None", "null", "one", "${x}", "0x10", "1_000")),
        "huge": "1e400",
        "cut": "",
        "more": words[i] + " 1",
        "joined": words[i] + "," + words[i],
        "points": words[i] + "." if "." in words[i] else words[i] + ".0.0",
    }
    way = rng.choice(sorted(ways))
    words[i] = ways[way]
    element.set(key, " ".join(words))
    return f"{key} {way}: {element.get(key)!r}"


EDITS = (
    rename_element, rename_attribute, duplicate, move_element, move_attribute, delete_element,
    delete_attribute, spoil_reference, spoil_number,
)  # fmt: skip


def edited(seed, rng, legal):
    """Text of a mutant with one edit of its tree, and what was done; None if nothing came of it."""
    index = rng.randrange(len(seed.read))
    root = copy.deepcopy(seed.root)
    element = [e for e in root.iter() if is_read(e)][index]
    line, tag = element.sourceline, element.tag
    edit = rng.choice(EDITS)
    done = edit(element, rng, legal)
    if done is None:
        return None
    return etree.tostring(root, encoding="unicode"), f"line {line} <{tag}>: {done}"


def damaged(seed, rng, legal):
    """Text of a mutant with one character of markup gone, doubled or replaced."""
    text = seed.text
    for _ in range(20):
        i = rng.randrange(len(text))
        if text[i] in "<>/=\"'":
            break
    else:
        return None
    if text.rfind("<!--", 0, i + 4) > text.rfind("-->", 0, i):
        return None  # in a comment
    if text[i] not in "\"'" and text.count('"', text.rfind("<", 0, i), i) % 2:
        return None  # in a value
    new = rng.choice(("", text[i] * 2, rng.choice("<>/=\"' ")))
    around = text[max(i - 20, 0) : i + 20].replace("\n", " ")
    return text[:i] + new + text[i + 1 :], f"{text[i]!r} made {new!r} in {around!r}"


# ---- the judgement


class TooSlow(Exception):
    """A file took longer than `PATIENCE`."""


def judged(seed, text):
    """``"refused"``, ``"warned"``, ``"same"`` or what is wrong with the answer to a mutant."""

    def late(*_):
        raise TooSlow

    previous = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        model, warned = loaded(text)
        if model == seed.model:
            return "same"
        with warnings.catch_warnings(), contextlib.suppress(rd.RobodynError):
            warnings.simplefilter("ignore")
            rd.load(model, allow_unphysical=True)  # nothing foreign comes of it later
        if warned and warned != seed.warned:
            return "warned"
        return f"SILENT: {difference(seed.model, model)}"
    except rd.RobodynError:
        return "refused"
    except TooSlow:
        return f"SLOW: more than {PATIENCE} s"
    except Exception as error:
        return f"FOREIGN: {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)


def difference(one, other):
    """First field in which two models differ."""
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if a != b and isinstance(a, tuple):
            for x, y in zip(a, b, strict=False):
                if x != y:
                    return f"{field.name}: {x} became {y}"[:600]
            return f"{field.name}: {len(a)} became {len(b)}"
        if a != b:
            return f"{field.name}: {a!r} became {b!r}"
    return "nothing"


def fuzz(files, count, seed=0, report=None):
    """Make mutants; return how many met which fate, and the faults.

    Parameters
    ----------
    files : list of Seed
    count : int
    seed : int
    report : callable, optional
        Called with the number of mutants now and then.
    """
    legal = Legal()
    rng = random.Random(seed)
    fates: collections.Counter[str] = collections.Counter()
    faults = []
    while fates.total() < count:
        file = rng.choice(files)
        mutant = (edited if rng.random() < 0.85 else damaged)(file, rng, legal)
        if mutant is None:
            continue
        text, done = mutant
        fate = judged(file, text)
        fates[fate.partition(":")[0]] += 1
        if ":" in fate:
            faults.append(f"{file.name}: {done}: {fate}")
        if report is not None and fates.total() % 1000 == 0:
            report(fates, faults)
    return fates, faults


def main():
    """Make many mutants from the command line."""

    def of_files(count, seed, only, report):
        return fuzz(seeds(only), count, seed, report)

    return 1 if judge_many(__doc__, of_files, 100_000, "parts of the names of files")[1] else 0


if __name__ == "__main__":
    sys.exit(main())

"""Programs of the user's own: text, files and classes."""

from __future__ import annotations

import pickle
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PGP, ROOT

import ripplet as rp
from ripplet.hooks import Activation, Label, LabelTotal, Neighbor, Vote, column, f32, powf, u32, u64

HOP = ROOT / "examples" / "programs" / "hop_attenuation.rs"
UNIT = 4096.0


@rp.program
class HopAttenuation:
    """Labels lose strength with each hop."""

    attenuation: float
    preference: float = 0.1
    strength: float = column(default=1.0)

    def load_neighbor(self, v, u):
        vote = u.strength * powf(float(u.degree()), self.preference) * float(u.weight)
        return Vote(u.label, u32(vote * UNIT))

    def label_score(self, v, c):
        return c.frequency

    def score_bound(self, frequency):
        return frequency

    def carry(self, v, u):
        return u.strength

    def update_vertex(self, v, label, score):
        if label == v.label:
            cost = 0.0
        else:
            cost = self.attenuation
        v.strength = max(v.carried() - cost, 0.0)
        return label


def test_a_class_has_the_labels_of_the_commands_file(command: Any, tmp_path: Path) -> None:
    parameters = {"attenuation": 0.05, "preference": 0.1}
    expected, strengths, written = tmp_path / "e.csv", tmp_path / "s.csv", tmp_path / "w.csv"
    params = [text for name, value in parameters.items() for text in ("--param", f"{name}={value}")]
    command("communities", PGP, "-o", expected, "--program-file", HOP, *params, "--columns-out", strengths, "--seed", 3)
    of_file = rp.communities(str(PGP), program_file=HOP, param=parameters, seed=3)
    of_class = rp.communities(str(PGP), program=HopAttenuation(attenuation=0.05), seed=3, threads=1)
    of_class.write(written)
    assert written.read_bytes() == expected.read_bytes()
    assert of_file == of_class
    rows = [line.split(",")[1] for line in strengths.read_text().splitlines()[1:]]
    assert np.array_equal(of_class.columns["strength"], np.array(rows, dtype=np.float32))
    assert np.array_equal(pickle.loads(pickle.dumps(of_class)).columns["strength"], of_class.columns["strength"])


def test_a_program_is_a_value() -> None:
    assert HopAttenuation.parameters == {"attenuation": "f32", "preference": "f32"}
    assert HopAttenuation.columns == {"strength": "f32"}
    one = HopAttenuation(attenuation=0.5)
    assert pickle.loads(pickle.dumps(one)) == one and HopAttenuation.param == {"preference": 0.1}
    with pytest.raises(rp.OptionError, match="did you mean attenuation"):
        HopAttenuation(atenuation=1.0)
    with pytest.raises(rp.OptionError, match="takes parameters by name: attenuation=…, preference=…"):
        HopAttenuation(0.5)  # type: ignore[operator]
    with pytest.raises(rp.InputError, match="`attenuation` must be given"):
        rp.communities([(0, 1)], program=HopAttenuation)


PAYMENTS = "ann bob,ann cyd,bob cyd,cyd dee,dee eve,dee fay,eve fay,ann shop,bob shop,cyd shop,dee shop,eve shop,fay shop"
EDGES = [tuple(row.split()) for row in PAYMENTS.split(",")]
ACCOUNTS = {"ann": 2, "bob": 1, "cyd": 0, "dee": 3, "eve": 0, "fay": 1, "shop": 0}


@rp.program
class Wary:
    popular: int
    chargebacks: int = column()

    def trust(self, u: Neighbor) -> int:
        if u.degree() > self.popular:
            return 1
        return 16

    def load_neighbor(self, v, u):
        return Vote(label=u.label, weight=self.trust(u) * (1 + min(100, u.chargebacks)))

    def label_score(self, v, c):
        return c.frequency


def test_tables_of_vertices(tmp_path: Path) -> None:
    table = {"id": list(ACCOUNTS), "chargebacks": list(ACCOUNTS.values())}
    path = tmp_path / "accounts.csv"
    path.write_text("id,chargebacks\n" + "".join(f"{id},{count}\n" for id, count in ACCOUNTS.items()))
    found = [rp.communities(EDGES, program=Wary(popular=5), vertex_table=given) for given in (table, path, {"chargebacks": table["chargebacks"]})]
    expected = [{"dee", "eve", "fay", "shop"}, {"ann", "bob", "cyd"}]
    assert all(c.sets() == expected for c in found)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (pandas.DataFrame(table), polars.DataFrame(table)):
        assert rp.communities(EDGES, program=Wary, param={"popular": 5}, vertex_table=frame).sets() == expected


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (None, "`chargebacks` must be given"),
        ({"id": ["ann"], "chargebacks": [1]}, "6 of 7 vertices have no row"),
        ({"id": ["ann", "ann"], "chargebacks": [1, 2]}, "second row"),
        ({"chargebacks": [1, 2, 3, 4, 5, 6, -7]}, "row 6 .*whole number"),
        ({"chargebacks": [1, 2, 3, 4, 5, 6, None]}, "row 6 .*None"),
        ({"chargebacks": [1, 2, 3, 4, 5, 6.5, 7]}, "row 5"),
        ({"chargeback": [1] * 7}, "none of the program's columns: the program reads chargebacks"),
        ({"id": [1, 2], "chargebacks": [1]}, "different lengths"),
        (7, "expected a table"),
        ("no.csv", "no.csv"),
    ],
)
def test_a_wrong_table_is_refused(table: Any, sentence: str) -> None:
    with pytest.raises(rp.RippletError, match=sentence):
        rp.communities(EDGES, program=Wary(popular=5), vertex_table=table)


def made(body: str, tmp_path: Path, **values: Any) -> rp.Program:
    """Returns the program of a class in a file."""
    path = tmp_path / "mine.py"
    path.write_text("from ripplet.hooks import *\nimport ripplet as rp, math\n" + textwrap.dedent(body))
    space: dict[str, Any] = {"__name__": "mine", **values}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return rp.program(space["P"])


HEAD = "class P:\n    a: int = 3\n    w: float = column(default=1.0)\n    h: int = column(default=0, len=2)\n"
SCORE = "    def label_score(self, v, c):\n        return c.frequency\n"


def hook(*lines: str) -> str:
    return HEAD + "    def load_neighbor(self, v, u):\n" + "".join(f"        {line}\n" for line in lines) + SCORE


@pytest.mark.parametrize(
    ("lines", "line", "sentence"),
    [
        (["x = u.degree()", "return Vote(u.label, u.wight)"], 9, "no field `wight`"),
        (["return Vote(u.label, u.degree() + 1.5)"], 8, "u32"),
        (["return Vote(u.label,", "    u.id +", "    True)"], 10, "bool"),
        (["x = [u.id]", "return Vote(u.label, 1)"], 8, "hooks have no list"),
        (["print(u.id)", "return Vote(u.label, 1)"], 8, "no function print"),
        (["return Vote(u.label, u.id / 2)"], 8, "// for whole numbers"),
        (["x: i32 = 3", "return Vote(u.label, u32(x // 2))"], 9, "u32 and u64 alone"),
        (["return Vote(u.label, int(2.5))"], 8, "write u32"),
        (["if u.id > 3:", "    x = 1", "return Vote(u.label, x)"], 10, "no value on every path"),
        (["return Vote(u.label, nowhere)"], 8, "no name nowhere"),
        (["while True:", "    pass", "return Vote(u.label, 1)"], 8, "loop"),
        (["for i in [1, 2]:", "    pass", "return Vote(u.label, 1)"], 8, "range"),
        (["return Vote(u.label, 1 if u.id in (1, 2) else 2)"], 8, "hooks compare with"),
        (["return Vote(u.label)"], 8, "a label and a weight"),
        (["return Vote(u.label, 1.5)"], 8, r"convert it: `u32\(x\)`$"),
        (["return Vote(u.label, u.id // u.degree())"], 8, r"divide by a literal, or by `max\(b, 1\)`$"),
        (["return Vote(u.label, u.id % u.degree())"], 8, r"divide by a literal, or by `max\(b, 1\)`$"),
        (["x: u64 = 5", "return Vote(u.label, x * u.id)"], 9, r"`\w+\(x\)`$"),
        (["return Vote(u.label, -u.id)"], 8, "write `0 - x`"),
        (["x = 1", "while x != 0:", "    x += 1", "return Vote(u.label, x)"], 9, "with `if done: break`"),
        (["return Vote(u.label, 1 if u.strength() else 2)"], 8, "no method `strength`"),
        (["x = 1"], 7, "Vote is needed here, not None"),
        (["import os", "return Vote(u.label, 1)"], 8, "no import"),
        (["return Vote(u.label, min(u.id, 2, key=3))"], 8, "no names"),
        (["i = u.id", "for i in range(3):", "    pass", "return Vote(u.label, 1)"], 9, "i has a value before the loop"),
        (["s = i = 0", "return Vote(u.label, s)"], 8, "one variable at a time"),
        (["for i in range(3):", "    for i in range(2):", "        pass", "return Vote(u.label, 1)"], 8, "the loop sets i itself"),
        (["for u in range(3):", "    pass", "return Vote(1, 1)"], 8, "u has a value before the loop"),
        (["s = 0", "i = 7", "for k in range(2):", "    s += i", "    for i in range(3):", "        s += 1", "return Vote(u.label, s)"], 12,
         "i has a value before the loop, .* call the variable of the loop another name"),
        (["x = 1.5", "return Vote(u.label, 1)"], 8, r"the type of this float is not known; say it: f32\(1.5\), or x: f32 = 1.5$"),
        (["x = u32.MAXX", "return Vote(u.label, x)"], 8, r"`u32\.MAXX` is not known here; constants are u32\.MAX, f32\.INFINITY"),
        (["u = 3", "return Vote(1, 1)"], 8, "`u` does not change; assign to another variable$"),
        (["return Vote(u.label, u32(math.pi))"], 8, "of math, hooks have sqrt, .* and pow; .* such as PI = math.pi"),
    ],
)
def test_an_error_points_to_the_python_line(lines: list[str], line: int, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(rp.ProgramError, match=sentence) as raised:
        made(hook(*lines), tmp_path)
    assert raised.value.lineno == line + 0 and raised.value.filename == str(tmp_path / "mine.py")
    assert raised.value.text == (tmp_path / "mine.py").read_text().splitlines()[line - 1]
    assert isinstance(raised.value, SyntaxError) and isinstance(raised.value, rp.RippletError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


# Each returns a weight that Python computes from the same text.
WEIGHTS = [
    ["return Vote(u.label, (u.id // 3 + u.id % 4) * 2 ** 3 + self.a)"],
    ["x = 1", "if u.id % 2 == 0:", "    x = x + 2", "elif u.id > 10:", "    x += 5", "return Vote(u.label, x)"],
    ["if u.id < 5:", "    t = 1", "elif u.id < 20:", "    t = 7", "else:", "    t = u.id", "return Vote(u.label, t)"],
    ["if u.id < 5:", "    t = u.id", "    s = 2", "else:", "    t = 9", "    s = u.id + 1", "return Vote(u.label, t * s)"],
    ["x = 0", "for i in range(2, 6):", "    if i == 4:", "        continue", "    x = x + u.id * u32(i)", "return Vote(u.label, x)"],
    ["n = u.id", "steps = 0", "while n > 0:", "    n >>= 1", "    steps += 1", "return Vote(u.label, steps)"],
    ["return Vote(u.label, u32(float(u.id) / 2.0 + SCALE) if not 3 < u.id <= 12 and u.id != 7 else 5)"],
    ["type = max(u.id, 3, 4)", "return Vote(u.label, type ^ (u.id | 8) & 13)"],
    ["return Vote(u.label, u32(abs(1.5 - float(u.id)) + math.sqrt(4.0)))"],
    ["if u.id < 4:", "    return Vote(u.label, 2)", "else:", "    return Vote(u.label, 3)"],
    ["x: u64 = 40", "x -= u64(u.id)", "x //= 2", "return Vote(u.label, u32(x))"],
    ["if u.id > 6:", "    x = 4", "else:", "    return Vote(u.label, 11)", "return Vote(u.label, x)"],
    ["type_ = u.id", "type = 3", "type_ += 1", "match_ = type * 100", "return Vote(u.label, type + type_ * 10 + match_)"],
    ["s = 0", "for i in range(3):", "    s += u.id", "for i in range(2):", "    for _ in range(2):", "        s += 1", "return Vote(u.label, s)"],
    ["s = 0", "for type in range(3):", "    type_ = u.id", "    s += u32(type) * type_", "return Vote(u.label, s)"],
]


@pytest.mark.parametrize("lines", WEIGHTS, ids=range(len(WEIGHTS)))
def test_a_hook_means_what_it_means_in_python(lines: list[str], tmp_path: Path) -> None:
    """Neighbours 0 to 29 vote for a vertex; the weight that each would give in Python is the score of its label."""
    path = 30
    made_ = made("SCALE = 0.5\n" + hook(*lines) + "    seen: int = column(default=0)\n" + textwrap.indent(textwrap.dedent("""
        def update_vertex(self, v, label, score):
            v.seen = u32(score)
            return v.label
        """), "    "), tmp_path)

    class View:
        def __init__(self, id: int) -> None:
            self.id = self.label = id

    class Cast(int):
        def __new__(cls, value: Any) -> Any:
            return int(value)

    import math

    text = "def f(self, v, u):\n" + "".join(f"    {line}\n" for line in lines)
    space: dict[str, Any] = {"Vote": lambda label, weight: weight, "u32": Cast, "u64": int, "math": math, "SCALE": 0.5}
    exec(text, space)
    expected = [space["f"](type("P", (), {"a": 3}), None, View(id)) for id in range(path)]
    pairs = [(id, id + path) for id in range(path)]
    run = rp.communities(pairs, program=made_, iterations=1, schedule="sync")
    assert run.columns["seen"][path:].tolist() == expected


def test_declarations_and_columns_of_several_values(tmp_path: Path) -> None:
    program = made(HEAD + SCORE + textwrap.indent(textwrap.dedent("""
        def update_vertex(self, v, label, score):
            v.h[0] = v.h[0] + 1
            v.h[1] += 2
            return label
        def activation(self):
            return Activation.ALWAYS
        def label_total(self):
            return LabelTotal.NONE
        def schedule(self):
            return Schedule.sync()
        def name(self):
            return "mine"
        """), "    "), tmp_path)
    assert program.name == "mine" and program._native.schedule == "sync"
    found = rp.communities([(0, 1), (1, 2)], program=program, iterations=3)
    assert found.columns["h"].tolist() == [[3, 6]] * 3


@pytest.mark.parametrize(
    ("methods", "line", "sentence"),
    [
        ("    def load_neighbor(self, v, u):\n        return Vote(u.label, u.strength())\n" + SCORE, 5,
         r"columns are declared as `name: float = column\(default=1.0\)`"),
        ("    def label_scor(self, v, c):\n        return c.frequency\n", 4,
         "nothing calls label_scor, which is no hook: is it label_score"),
        ("    def load_neighbour(self, v, u):\n        return Vote(u.label, 1)\n" + SCORE, 4, "nothing calls load_neighbour"),
    ],
)
def test_errors_of_classes_advise_python(methods: str, line: int, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(rp.ProgramError, match=sentence) as raised:
        made("class P:\n" + methods, tmp_path)
    assert raised.value.lineno == line


def test_a_helper_may_have_nearly_the_name_of_a_hook(tmp_path: Path) -> None:
    helper = "    def label_scored(self, a: int) -> int:\n        return a\n"
    score = "    def label_score(self, v, c):\n        return u64(self.label_scored(c.label))\n"
    assert made("class P:\n" + helper + score, tmp_path)


def test_texts_and_their_errors(tmp_path: Path) -> None:
    text = HOP.read_text()
    assert rp.program(text).parameters == {"attenuation": "f32", "preference": "f32"}
    with pytest.raises(rp.ProgramError, match="program:.*no method `strengt`") as raised:
        rp.program(text.replace("u.strength()", "u.strengt()"))
    assert len(raised.value.errors) == 2
    for wrong, kind in [("mine.rs", TypeError), (7, TypeError), (tmp_path / "no.rs", OSError), (int, TypeError)]:
        with pytest.raises(rp.RippletError) as refused:
            rp.program(wrong)
        assert isinstance(refused.value, kind)
    exec("class Lost:\n    def label_score(self, v, c):\n        return c.frequency", space := {})
    with pytest.raises(rp.InputError, match="does not keep the source"):
        rp.program(space["Lost"])


@pytest.mark.parametrize(
    ("kind", "value", "range"),
    [
        ("float", 1e300, "from -3.4028235e38 to 3.4028235e38"), ("f32", -1e39, "from -3.4028235e38"), ("float", 10**40, "to 3.4028235e38"),
        ("int", -1, "from 0 to 4294967295"), ("u64", 2**64, "from 0 to 18446744073709551615"), ("i32", 2**31, "to 2147483647"),
    ],
)
def test_numbers_that_a_parameter_does_not_hold_are_refused(kind: str, value: Any, range: str, tmp_path: Path) -> None:
    program = made(f"class P:\n    b: {kind}\n" + SCORE, tmp_path)
    for given in ({"program": program(b=value)}, {"program": program, "param": {"b": value}}):
        with pytest.raises(rp.InputError, match=f"parameter `b` is an? {program.parameters['b']}, .*{range}"):
            rp.communities([(0, 1)], **given)
    assert rp.communities([(0, 1)], program=program(b=1)) is not None
    if program.parameters["b"] == "f32":
        assert rp.communities([(0, 1)], program=program(b=float("inf"))) is not None


def test_promises_are_tested(tmp_path: Path) -> None:
    false = made(HEAD + SCORE + "    def score_bound(self, frequency):\n        return 0\n", tmp_path)
    with pytest.raises(rp.InputError, match="`score_bound` does not hold"):
        rp.communities(str(PGP), program=false, check_program=True)
    assert len(rp.communities(EDGES, program=Wary(popular=5), vertex_table={"chargebacks": [0] * 7}, check_program=True)) > 0


@pytest.mark.parametrize(
    "options",
    [
        {"program": "lpa", "param": {"a": 1}}, {"program": "lpa", "check_program": True}, {"vertex_table": {}},
        {"guard": 1.0}, {"preset": "nu-bm"}, {"refine": "modularity"}, {"counter": "mg:4"}, {"program_file": HOP},
        {"param": {"b": 1}}, {"param": {"a": -1}}, {"param": {"a": []}}, {"param": 3}, {"program": 3},
    ],
    ids=str,
)
def test_options_that_do_not_go_together(options: dict[str, Any], tmp_path: Path) -> None:
    program = made(HEAD + SCORE, tmp_path)
    with pytest.raises(rp.RippletError):
        rp.communities([(0, 1)], **{"program": program, **options})


_ = (Activation, Label, LabelTotal, f32, u64)

"""Translation of a Python class with hooks into the language of hooks, line by line.

The syntax tree alone is read: nothing of the class runs. What Python and the language of hooks mean alike is passed on, and
the checker of the language finds the rest: wrong names, wrong types, loops that may not end. What would mean something
else is refused here: a division of whole numbers with ``/``, say.
"""

from __future__ import annotations

import ast
import difflib
import re
import types
from collections.abc import Mapping, Sequence
from typing import Any

PAGE = "docs/hooks.md has the language of hooks"

SCALARS = ("u32", "i32", "u64", "i64", "f32", "bool")
INTEGERS = ("u32", "i32", "u64", "i64")
UNSIGNED = ("u32", "u64")
VIEWS = ("Vertex", "Neighbor", "Candidate", "VertexMut")
ANNOTATIONS = {
    "int": "u32", "float": "f32", "Label": "u32", "VertexId": "u32", "Vote": "Vote",
    **{name: name for name in (*SCALARS, *VIEWS)},
}

HOOKS: dict[str, tuple[tuple[str, ...], str]] = {
    "pick_label": (("Vertex",), "Label"),
    "load_neighbor": (("Vertex", "Neighbor"), "Vote"),
    "label_score": (("Vertex", "Candidate"), "Score"),
    "carry": (("Vertex", "Neighbor"), "f32"),
    "update_vertex": (("VertexMut", "Label", "Score"), "Label"),
    "label_total": ((), "LabelTotal"),
    "activation": ((), "Activation"),
    "score_bound": (("u64",), "Score"),
    "falls_with_total": ((), "bool"),
    "follows_frequency": ((), "bool"),
    "votes_for_own_label": ((), "bool"),
    "carries": ((), "bool"),
    "name": ((), "&str"),
    "schedule": ((), "Schedule"),
}
"""The hooks and declarations: the types of their parameters, and of their result."""

FIELDS = {
    "Vertex": {"id": "u32", "label": "u32"},
    "Neighbor": {"id": "u32", "label": "u32", "weight": "u32"},
    "Candidate": {"label": "u32", "frequency": "u64", "total_votes": "u64", "grand_total": "u64"},
    "VertexMut": {"id": "u32", "label": "u32"},
    "Vote": {"label": "u32", "weight": "u32"},
}
METHODS = {
    "degree": "u32", "round": "u32", "random": "u32", "carried": "f32", "frequency": "u64", "total_votes": "u64",
    "total": "u32",
}
FUNCTIONS = {"exp": "f32", "exp2": "f32", "ln": "f32", "log2": "f32", "powf": "f32", "products_ge": "bool"}
MATH = {"exp": "exp", "exp2": "exp2", "log": "ln", "log2": "log2", "pow": "powf"}
VALUES = {
    "LabelTotal": ("None", "Members", "Volume"),
    "Activation": ("Disagreement", "Change", "Always"),
    "Vote": ("NONE",),
}
OF_MATH = "of math, hooks have sqrt, fabs, exp, log, log2 and pow"
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>",
}
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}
RESERVED = frozenset(
    "as box const crate do dyn enum extern final fn impl let loop macro match mod move mut override priv pub ref "
    "self Self static struct super trait type typeof unsafe unsized use virtual where abstract become true false".split()
)
POSSIBLE = (
    "hooks have arithmetic, comparisons, if, for over range, while, min, max, abs, conversions such as u64(x) and "
    "float(x), methods of the class, and the views"
)


MARK = re.compile("\x00(\\d+):(\\d+)\x01")
"""Mark of the place of the text that follows it: a line and a column, both from 1."""


class Refused(Exception):
    """A part of a class that cannot be translated: the sentence, and the node."""

    def __init__(self, message: str, node: ast.AST) -> None:
        super().__init__(message)
        self.message, self.node = message, node


class Constants:
    """Names with a value outside of the class."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def number(self, name: str) -> int | float | bool | None:
        value = self.values.get(name)
        return value if type(value) in (int, float, bool) else None

    def module(self, name: str) -> str | None:
        """Returns the name of the module that a name stands for."""
        value = self.values.get(name)
        return value.__name__ if isinstance(value, types.ModuleType) else None


class Lowering:
    """The text of a class, and where each piece of it comes from.

    Attributes
    ----------
    text : str
        The text in the language of hooks.
    places : list of list of tuple
        For each line of the text, the columns from which on it comes from a line and a column of Python; all from 1.
    defaults : dict
        The values of parameters that need not be given.
    """

    def __init__(self, tree: ast.ClassDef, constants: Constants) -> None:
        self.tree, self.constants = tree, constants
        self.rows: list[str] = []
        self.places: list[list[tuple[int, int, int]]] = []
        self.defaults: dict[str, int | float | bool] = {}
        self.parameters: dict[str, str] = {}
        self.columns: dict[str, tuple[str, bool]] = {}
        self.members: dict[str, int | float | bool] = {}
        self.methods: dict[str, ast.FunctionDef] = {}
        self.score = "u64"
        self.outline()
        self.write()

    @property
    def text(self) -> str:
        return "\n".join(self.rows) + "\n"

    # The items of the class.

    def outline(self) -> None:
        """Reads the class's parameters, columns, constants and methods."""
        if self.tree.bases or self.tree.keywords:
            raise Refused("a program has no base class: write all hooks in it", self.tree)
        for item in self.tree.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                self.field(item.target.id, item)
            elif isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.targets[0], ast.Name):
                name = item.targets[0].id
                if name == "Score":
                    self.score = self.kind(item.value)
                else:
                    self.members[name] = self.literal(item.value)
            elif isinstance(item, ast.FunctionDef):
                if item.decorator_list:
                    raise Refused("a hook has no decorator", item.decorator_list[0])
                self.methods[item.name] = item
            elif not (isinstance(item, ast.Pass) or is_text(item)):
                raise Refused("a program has parameters, columns, constants and hooks, and nothing else", item)
        used = {node.attr for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)}
        for name, method in self.methods.items():
            if name not in HOOKS and name not in used:
                meant = difflib.get_close_matches(name, HOOKS.keys() - self.methods.keys(), 1, 0.8)
                if meant:
                    raise Refused(f"nothing calls {name}, which is no hook: is it {meant[0]}?", method)
        scored = self.methods.get("label_score")
        if scored is None:
            raise Refused("a program needs the hook label_score(self, v, c): how good the label c is for v", self.tree)
        if scored.returns is not None:
            kind = self.kind(scored.returns)
            self.score = "u64" if kind == "u32" else kind

    def field(self, name: str, item: ast.AnnAssign) -> None:
        kind = self.kind(item.annotation)
        value = item.value
        if isinstance(value, ast.Call) and last_name(value.func) == "column":
            if kind not in ("u32", "f32"):
                raise Refused(f"a column holds u32 or f32 values (int or float), not {kind}", item)
            given = {keyword.arg: keyword.value for keyword in value.keywords}
            if value.args or not set(given) <= {"default", "len"}:
                raise Refused("column() takes default= and len=", value)
            self.columns[name] = (kind, "len" in given)
            return
        if kind not in SCALARS:
            raise Refused(f"a parameter is a number or a bool, not {kind}", item)
        self.parameters[name] = kind
        if value is not None:
            self.defaults[name] = self.literal(value)

    def literal(self, node: ast.expr) -> int | float | bool:
        """Returns the value of a literal, a negative one, or a name with a number outside of the class."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.literal(node.operand)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            found: int | float | bool = node.value  # type: ignore[assignment]
            return found
        if isinstance(node, ast.Name):
            number = self.constants.number(node.id)
            if number is not None:
                return number
        raise Refused("expected a number, True or False, written out or by the name of one", node)

    def kind(self, node: ast.expr) -> str:
        """Returns the type of an annotation."""
        name = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else last_name(node)
        if name == "Score":
            return self.score
        if name not in ANNOTATIONS:
            known = "int, float, bool, u32, i32, u64, i64, f32, Label, Vote, and the views"
            raise Refused(f"the types of hooks are {known}, not {name or ast.unparse(node)}", node)
        return ANNOTATIONS[name]

    # The text.

    def emit(self, text: str, node: ast.AST) -> None:
        """Adds text, whose pieces begin with the mark of their place."""
        pieces = MARK.split(mark(node) + text)
        current, at = "", 0
        spots: list[tuple[int, int, int]] = []
        for index in range(1, len(pieces), 3):
            line, column, piece = int(pieces[index]), int(pieces[index + 1]), pieces[index + 2]
            if spots and line != at:
                self.rows.append(current)
                self.places.append(spots)
                current, spots = "", []
            at = line
            spots.append((len(current) + 1, line, column))
            current += piece
        self.rows.append(current)
        self.places.append(spots)

    def write(self) -> None:
        tree = self.tree
        fields = {item.target.id: item for item in tree.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)}
        if self.parameters:
            self.emit(f"pub struct {tree.name} {{", tree)
            for name, kind in self.parameters.items():
                self.emit(f"pub {safe(name)}: {kind},", fields[name])
            self.emit("}", tree)
        else:
            self.emit(f"pub struct {tree.name};", tree)
        if self.columns:
            self.emit("#[columns] struct Columns {", tree)
            for name in self.columns:
                self.write_column(name, fields[name])
            self.emit("}", tree)
        helpers = [method for name, method in self.methods.items() if name not in HOOKS]
        if helpers:
            self.emit(f"impl {tree.name} {{", tree)
            for method in helpers:
                Function(self, method).write()
            self.emit("}", tree)
        self.emit(f"impl Program for {tree.name} {{", tree)
        self.emit(f"type Score = {self.score};", tree)
        for name, method in self.methods.items():
            if name in HOOKS:
                Function(self, method).write()
        self.emit("}", tree)

    def write_column(self, name: str, item: ast.AnnAssign) -> None:
        kind, many = self.columns[name]
        assert isinstance(item.value, ast.Call)
        given = {keyword.arg: keyword.value for keyword in item.value.keywords}
        attributes = ""
        if "default" in given:
            attributes += f"#[default({written(self.literal(given['default']), kind)})] "
        if "len" in given:
            length = given["len"]
            if isinstance(length, ast.Constant) and isinstance(length.value, str):
                attributes += f"#[len({length.value})] "
            else:
                attributes += f"#[len({self.literal(length)})] "
        self.emit(f"{attributes}{safe(name)}: {f'[{kind}]' if many else kind},", item)


class Function:
    """A method on its way into the language of hooks."""

    def __init__(self, program: Lowering, tree: ast.FunctionDef) -> None:
        self.program, self.tree = program, tree
        self.scopes: list[dict[str, str]] = [{}]
        self.loads = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]

    def emit(self, text: str, node: ast.AST) -> None:
        self.program.emit(text, node)

    # Items.

    def write(self) -> None:
        tree, program = self.tree, self.program
        given = tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs:
            raise Refused("the parameters of a hook are plain: no defaults, no *, no **", tree)
        names = [argument.arg for argument in given.args]
        if not names or names[0] != "self":
            raise Refused("the first parameter of a hook is self", tree)
        known = HOOKS.get(tree.name)
        if known is None:
            kinds = []
            for argument in given.args[1:]:
                if argument.annotation is None:
                    raise Refused(f"the type of {argument.arg} is not known: annotate it, such as {argument.arg}: int", argument)
                kinds.append(program.kind(argument.annotation))
            result = None if tree.returns is None or is_none(tree.returns) else program.kind(tree.returns)
        else:
            kinds, result = list(known[0]), known[1]
            if len(names) - 1 != len(kinds):
                expected = ", ".join(["self", *kinds])
                raise Refused(f"{tree.name} has the parameters ({expected}), not ({', '.join(names)})", tree)
        scalar = {"Label": "u32", "Score": program.score}
        self.scopes[0] = {name: scalar.get(kind, kind) for name, kind in zip(names[1:], kinds, strict=True)}
        shown = {"VertexMut": "&mut VertexMut", "Score": "Self::Score"}
        parameters = "".join(f", {local_name(name)}: {shown.get(kind, kind)}" for name, kind in zip(names[1:], kinds, strict=True))
        arrow = "" if result is None else f" -> {shown.get(result, result)}"
        body = [statement for statement in tree.body if not is_text(statement)]
        if tree.name == "name":
            self.emit(f"fn name(&self) -> &str {{ {self.title(body)} }}", tree)
            return
        self.emit(f"fn {safe(tree.name)}(&self{parameters}){arrow} {{", tree)
        assigned = {name for statement in body for name in every_target(statement)}
        for name in self.scopes[0]:
            if name in assigned and self.scopes[0][name] not in VIEWS:
                self.emit(f"let mut {local_name(name)} = {local_name(name)};", tree)
        if body and isinstance(body[-1], ast.Return) and body[-1].value is not None:
            self.block(body[:-1])
            self.emit(self.expression(body[-1].value), body[-1])
        else:
            self.block(body)
        self.emit("}", tree)

    def title(self, body: Sequence[ast.stmt]) -> str:
        last = body[-1] if body else None
        if len(body) == 1 and isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) and isinstance(last.value.value, str):
            return '"' + last.value.value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        raise Refused('name returns a text in quotes, nothing else: return "mine"', self.tree)

    # Statements.

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def nested(self, body: Sequence[ast.stmt], more: dict[str, str] | None = None) -> dict[str, str]:
        """Writes statements of a scope of their own, and returns its names."""
        self.scopes.append(dict(more or {}))
        self.block(body)
        return self.scopes.pop()

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Return(value=None):
                self.emit("return;", node)
            case ast.Return(value=value) if value is not None:
                self.emit(f"return {self.expression(value)};", node)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, self.expression(value), self.type_of(value), node)
            case ast.Assign():
                raise Refused("one variable at a time: write a line for each", node)
            case ast.AnnAssign(target=ast.Name(id=name), value=value, annotation=annotation) if value is not None:
                kind = self.program.kind(annotation)
                if self.local(name) is None:
                    self.scopes[-1][name] = kind
                    self.emit(f"let mut {local_name(name)}: {kind} = {self.expression(value)};", node)
                else:
                    self.emit(f"{local_name(name)} = {self.expression(value)};", node)
            case ast.AugAssign(target=target, op=operator, value=value):
                self.step(target, operator, value, node)
            case ast.If():
                self.choice(node)
            case ast.For(target=ast.Name(id=name), iter=iterator, body=body, orelse=[]):
                self.loop(name, iterator, body, node)
            case ast.While(test=test, body=body, orelse=[]):
                self.emit(f"while {self.condition(test)} {{", node)
                self.nested(body)
                self.emit("}", node)
            case ast.Break():
                self.emit("break;", node)
            case ast.Continue():
                self.emit("continue;", node)
            case ast.Pass():
                pass
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=ast.Call() as call):
                self.emit(f"{self.expression(call)};", node)
            case _:
                raise Refused(f"hooks have no {named(node)}: {POSSIBLE}", node)

    def assign(self, target: ast.expr, value: str, kind: str, node: ast.AST) -> None:
        if isinstance(target, ast.Name):
            name = target.id
            if self.local(name) is None:
                if name in RESERVED_VALUES:
                    raise Refused(f"{name} is a name of the language: call the variable another name", target)
                self.scopes[-1][name] = kind
                self.emit(f"let mut {local_name(name)} = {value};", node)
            else:
                self.emit(f"{local_name(name)} = {value};", node)
            return
        column = self.column(target)
        if column is None:
            raise Refused("a hook sets variables and, in update_vertex, columns: v.strength = …", target)
        view, name, index = column
        at = "" if index is None else f"{self.expression(index)}, "
        self.emit(f"{self.expression(view)}.set_{name}({at}{value});", node)

    def step(self, target: ast.expr, operator: ast.operator, value: ast.expr, node: ast.AST) -> None:
        """Writes ``x += 1`` as it stands, so that the checker finds the step of a loop."""
        if isinstance(target, ast.Name) and (type(operator) in OPERATORS or isinstance(operator, (ast.FloorDiv, ast.Mod))):
            if self.local(target.id) is None:
                raise self.unassigned(target)
            kind = self.type_of(target)
            if type(operator) in OPERATORS:
                self.emit(f"{local_name(target.id)} {OPERATORS[type(operator)]}= {self.expression(value)};", node)
            else:
                self.whole(kind, self.type_of(value), operator, node)
                sign = "/" if isinstance(operator, ast.FloorDiv) else "%"
                self.emit(f"{local_name(target.id)} {sign}= {self.expression(value)};", node)
            return
        read = ast.parse(ast.unparse(target), mode="eval").body
        for part in ast.walk(read):
            ast.copy_location(part, target)
        whole = ast.copy_location(ast.BinOp(read, operator, value), node)
        self.assign(target, self.expression(whole), self.type_of(whole), node)

    def choice(self, node: ast.If) -> None:
        new = [
            name for name in sorted(definitely(node) or set())
            if self.local(name) is None and self.is_used_after(name, node)
        ]
        if len(new) > 1:
            kinds = {name: self.kind_in(name, node) for name in new}
            for name, kind in kinds.items():
                if kind not in SCALARS:
                    raise Refused(f"give {name} a value before the if, with its type: {name}: int = 0", node)
                self.scopes[-1][name] = kind
                self.emit(f"let mut {local_name(name)}: {kind} = {zero(kind)};", node)
            new = []
        begin = f"let mut {local_name(new[0])} = " if new else ""
        self.emit(f"{begin}if {self.condition(node.test)} {{", node)
        kind = self.branch(node.body, new, node)
        if node.orelse:
            self.emit("} else {", node)
            other = self.branch(node.orelse, new, node)
            kind = other if kind in ("int", "float", "?") else kind
        self.emit("};" if new else "}", node)
        if new:
            self.scopes[-1][new[0]] = kind

    def branch(self, body: Sequence[ast.stmt], new: Sequence[str], node: ast.AST) -> str:
        """Writes a branch, which ends with the value of the variable that it is for."""
        self.scopes.append({})
        self.block(body)
        scope = self.scopes.pop()
        if not new or definitely_of(body) is None:
            return "?"
        self.emit(local_name(new[0]), body[-1])
        return scope.get(new[0], "?")

    def kind_in(self, name: str, node: ast.If) -> str:
        """Returns the type of a variable's values within the branches, as far as they show it."""
        kinds = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Assign) and any(isinstance(at, ast.Name) and at.id == name for at in part.targets):
                try:
                    kinds.add(self.type_of(part.value))
                except Refused:
                    pass
            elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.target.id == name:
                kinds.add(self.program.kind(part.annotation))
        known = sorted(kinds & set(SCALARS))
        if known:
            return known[0]
        return "f32" if kinds == {"float"} else "?"

    def loop(self, name: str, iterator: ast.expr, body: Sequence[ast.stmt], node: ast.For) -> None:
        if not (isinstance(iterator, ast.Call) and last_name(iterator.func) == "range" and not iterator.keywords):
            raise Refused("a for loop goes over a range of whole numbers: for i in range(n)", iterator)
        ends = iterator.args
        if len(ends) not in (1, 2):
            raise Refused("the range of a for loop has an end, or a begin and an end; for steps use while", iterator)
        if name in {target for statement in body for target in every_target(statement)}:
            raise Refused(f"the loop sets {name} itself: use another variable", node)
        if name != "_" and self.is_used_after(name, node):
            raise Refused(f"{name} has no value after the loop: keep it in another variable", node)
        if name != "_" and self.local(name) is not None:
            raise Refused(
                f"{name} has a value before the loop, which a loop of hooks does not change: call the variable of the loop another"
                " name",
                node.target,
            )
        begin = self.expression(ends[0]) if len(ends) == 2 else "0"
        self.emit(f"for {local_name(name)} in {begin}..{self.expression(ends[-1])} {{", node)
        kind = self.type_of(ends[-1])
        self.nested(body, {name: kind if kind in INTEGERS else "i32" if kind == "int" else "?"})
        self.emit("}", node)

    # Names.

    def local(self, name: str) -> str | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def is_used_after(self, name: str, node: ast.stmt) -> bool:
        end = (node.end_lineno or 0, node.end_col_offset or 0)
        return any(load.id == name and (load.lineno, load.col_offset) >= end for load in self.loads)

    def unassigned(self, node: ast.Name) -> Refused:
        if any(node.id in every_target(statement) for statement in self.tree.body):
            return Refused(
                f"{node.id} has no value on every path to this line: give it one before the if or the loop", node
            )
        return Refused(f"hooks know no name {node.id}: {POSSIBLE}; numbers of the module are known by their names", node)

    def column(self, node: ast.expr) -> tuple[ast.expr, str, ast.expr | None] | None:
        """Returns the view, the column and the index of ``v.name`` and ``v.name[i]``."""
        index: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            index, node = node.slice, node.value
        if isinstance(node, ast.Attribute) and node.attr in self.program.columns and self.type_of(node.value) in VIEWS:
            return node.value, node.attr, index
        return None

    # Expressions.

    def condition(self, node: ast.expr) -> str:
        return self.expression(node)

    def expression(self, node: ast.expr) -> str:
        """Returns an expression, with the marks of its places."""
        return mark(node) + self.bare(node)

    def bare(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=bool(value)):
                return "true" if value else "false"
            case ast.Constant(value=int(value)):
                return str(value)
            case ast.Constant(value=float(value)):
                return written(value, "f32")
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                column = self.column(node)
                if column is None or column[2] is None:
                    raise Refused("[…] reads a column of several values: v.history[i]", node)
                return f"{self.expression(column[0])}.{column[1]}({self.expression(column[2])})"
            case ast.Call():
                return self.call(node)
            case ast.UnaryOp(op=operator, operand=operand):
                return self.unary(operator, operand)
            case ast.BinOp():
                return self.binary(node)
            case ast.BoolOp(op=operator, values=values):
                sign = " && " if isinstance(operator, ast.And) else " || "
                return "(" + sign.join(self.expression(value) for value in values) + ")"
            case ast.Compare(left=left, ops=operators, comparators=others):
                sides = [left, *others]
                pairs = []
                for at, compared in enumerate(operators):
                    if type(compared) not in COMPARISONS:
                        raise Refused("hooks compare with ==, !=, <, <=, > and >=", node)
                    sign = COMPARISONS[type(compared)]
                    pairs.append(f"({self.expression(sides[at])} {sign} {self.expression(sides[at + 1])})")
                return pairs[0] if len(pairs) == 1 else "(" + " && ".join(pairs) + ")"
            case ast.IfExp(test=test, body=body, orelse=other):
                return f"(if {self.condition(test)} {{ {self.expression(body)} }} else {{ {self.expression(other)} }})"
            case _:
                raise Refused(f"hooks have no {named(node)}: {POSSIBLE}", node)

    def name(self, node: ast.Name) -> str:
        if self.local(node.id) is not None:
            return local_name(node.id)
        if node.id == "NO_LABEL":
            return "NO_LABEL"
        number = self.program.constants.number(node.id)
        if number is None or any(node.id in every_target(statement) for statement in self.tree.body):
            raise self.unassigned(node)
        return written(number, None)

    def attribute(self, node: ast.Attribute) -> str:
        value = node.value
        owner = last_name(value)
        if is_self(value):
            if node.attr in self.program.members:
                return written(self.program.members[node.attr], None)
            return f"self.{safe(node.attr)}"
        if isinstance(value, ast.Name) and self.program.constants.module(value.id) == "ripplet.hooks":
            return self.bare(ast.copy_location(ast.Name(node.attr, ast.Load()), node))
        if owner in VALUES and self.is_global(value):
            known = {variant.casefold(): variant for variant in VALUES[owner]}
            variant = known.get(node.attr.casefold())
            if variant is None:
                expected = ", ".join(f"{owner}.{name.upper()}" for name in known.values())
                raise Refused(f"there is no {owner}.{node.attr}: expected {expected}", node)
            return f"{owner}::{variant}"
        if owner in SCALARS and self.is_global(value):
            return f"{owner}::{node.attr}"
        if isinstance(value, ast.Name) and self.local(value.id) is None and "math" in (value.id, self.program.constants.module(value.id)):
            raise Refused(
                f"{OF_MATH}; a number has a name outside of the class, such as {node.attr.upper()} = math.{node.attr}", node
            )
        column = self.column(node)
        if column is not None:
            return f"{self.expression(value)}.{node.attr}()"
        return f"{self.expression(value)}.{safe(node.attr)}"

    def is_global(self, node: ast.expr) -> bool:
        return not isinstance(node, ast.Name) or self.local(node.id) is None

    def call(self, node: ast.Call) -> str:
        function = node.func
        name = last_name(function)
        if name == "Vote" and self.is_global(function):
            return f"Vote::new({self.arguments(self.of_vote(node))})"
        if node.keywords:
            raise Refused("arguments of hooks have no names", node)
        arguments = node.args
        if any(isinstance(argument, ast.Starred) for argument in arguments):
            raise Refused("arguments are written one by one", node)
        if isinstance(function, ast.Attribute) and not self.is_vocabulary(function):
            return self.method(function, arguments, node)
        if name in ("min", "max") and len(arguments) >= 2:
            # Of a literal, the type is not known when its method is looked up.
            first = next((a for a in arguments if self.type_of(a) not in ("int", "float")), arguments[0])
            rest = [argument for argument in arguments if argument is not first]
            text = self.receiver(first)
            for argument in rest:
                text = f"({text}).{name}({self.expression(argument)})"
            return text
        if name == "abs" and len(arguments) == 1:
            return f"({self.receiver(arguments[0])}).abs()"
        if name == "pow" and len(arguments) == 2:
            return self.bare(ast.copy_location(ast.BinOp(arguments[0], ast.Pow(), arguments[1]), node))
        if name in ("float", "f32", "u32", "i32", "u64", "i64") and len(arguments) == 1:
            return f"({self.expression(arguments[0])} as {'f32' if name == 'float' else name})"
        if name == "int":
            raise Refused("int(x) does not say which: write u32(x), i32(x), u64(x) or i64(x)", node)
        if name == "bool" and len(arguments) == 1:
            return f"({self.expression(arguments[0])} != 0)"
        if name in FUNCTIONS:
            return f"{name}({self.arguments(arguments)})"
        known = f"; of the class's own, write self.{name}(…)" if name in self.program.methods else ""
        raise Refused(f"hooks have no function {name or ast.unparse(function)}{known}: {POSSIBLE}", node)

    def is_vocabulary(self, function: ast.Attribute) -> bool:
        """Returns whether this is a name of the module ``ripplet.hooks``, written with the module."""
        value = function.value
        if isinstance(value, ast.Attribute) and value.attr == "hooks":
            return isinstance(value.value, ast.Name) and self.program.constants.module(value.value.id) == "ripplet"
        return isinstance(value, ast.Name) and self.local(value.id) is None and (
            self.program.constants.module(value.id) == "ripplet.hooks"
        )

    def of_vote(self, node: ast.Call) -> list[ast.expr]:
        given = dict(zip(("label", "weight"), node.args, strict=False))
        given.update({keyword.arg or "": keyword.value for keyword in node.keywords})
        if set(given) != {"label", "weight"} or len(node.args) + len(node.keywords) != 2:
            raise Refused("a vote has a label and a weight: Vote(label, weight)", node)
        return [given["label"], given["weight"]]

    def method(self, function: ast.Attribute, arguments: Sequence[ast.expr], node: ast.Call) -> str:
        value, name = function.value, function.attr
        if isinstance(value, ast.Name) and self.local(value.id) is None:
            module = self.program.constants.module(value.id)
            if module == "math" or value.id == "math":
                if name in ("sqrt", "fabs") and len(arguments) == 1:
                    return f"({self.receiver(arguments[0])}).{'abs' if name == 'fabs' else name}()"
                if name in MATH and len(arguments) == (2 if name == "pow" else 1):
                    return f"{MATH[name]}({self.arguments(arguments)})"
                raise Refused(OF_MATH, node)
            if value.id in ("Vote", "Schedule", *SCALARS):
                known = "Vote::new" if (value.id, name) == ("Vote", "new") else f"{value.id}::{name}"
                return f"{known}({self.arguments(arguments)})"
        if is_self(value):
            if name not in self.program.methods:
                raise Refused(f"the class has no method {name}", node)
            return f"self.{safe(name)}({self.arguments(arguments)})"
        receiver = self.expression(value)
        if self.type_of(value) not in VIEWS:
            receiver = f"({receiver})"
        return f"{receiver}.{name}({self.arguments(arguments)})"

    def receiver(self, node: ast.expr) -> str:
        """Returns the expression before a method; of a literal float, the type is written out."""
        text = self.expression(node)
        return f"{text}_f32" if isinstance(node, ast.Constant) and isinstance(node.value, float) else text

    def arguments(self, nodes: Sequence[ast.expr]) -> str:
        return ", ".join(self.expression(node) for node in nodes)

    def unary(self, operator: ast.unaryop, operand: ast.expr) -> str:
        value = self.expression(operand)
        if isinstance(operator, ast.Not):
            # `!` of a whole number has another meaning in Rust.
            return f"!{value}" if self.type_of(operand) == "bool" else f"({value} == false)"
        if isinstance(operator, ast.Invert):
            if self.type_of(operand) == "bool":
                raise Refused("~ of a bool is a whole number in Python: write not", operand)
            return f"(!{value})"
        return f"(-{value})" if isinstance(operator, ast.USub) else value

    def binary(self, node: ast.BinOp) -> str:
        left, operator, right = node.left, node.op, node.right
        a, b = self.expression(left), self.expression(right)
        kinds = (self.type_of(left), self.type_of(right))
        if type(operator) in OPERATORS:
            return f"({a} {OPERATORS[type(operator)]} {b})"
        if isinstance(operator, ast.Div):
            if not any(kind in ("f32", "float") for kind in kinds):
                raise Refused("/ is for floats: write float(x) / float(y), or // for whole numbers", node)
            return f"({a} / {b})"
        if isinstance(operator, (ast.FloorDiv, ast.Mod)):
            self.whole(*kinds, operator, node)
            return f"({a} {'/' if isinstance(operator, ast.FloorDiv) else '%'} {b})"
        if isinstance(operator, ast.Pow):
            if "f32" in kinds or "float" in kinds:
                return f"powf({a}, {b})"
            if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
                # Of a literal, the type is not known when its method is looked up.
                base, power = self.program.literal(left), self.program.literal(right)
                if not 0 <= power <= 64:
                    raise Refused("the power of a whole number is a whole number from 0", node)
                return str(base**power)
            return f"({a}).pow({b})"
        raise Refused(f"hooks have no operator {ast.unparse(node)}: {POSSIBLE}", node)

    def whole(self, a: str, b: str, operator: ast.operator, node: ast.AST) -> None:
        """Refuses a division that Python rounds in another direction than the language of hooks."""
        sign = "//" if isinstance(operator, ast.FloorDiv) else "%"
        if not any(kind in UNSIGNED for kind in (a, b)) or not {a, b} <= {*UNSIGNED, "int"}:
            raise Refused(
                f"{sign} is for u32 and u64 alone, as others round differently in Python: give the numbers such a type,"
                " or for floats write (x / y).floor()",
                node,
            )

    # Types, as far as they are seen without the checker.

    def type_of(self, node: ast.expr) -> str:
        """Returns the type of an expression: that of a literal is ``int`` or ``float``, an unknown one ``?``."""
        match node:
            case ast.Constant(value=value):
                return {bool: "bool", int: "int", float: "float"}.get(type(value), "?")
            case ast.Name(id=name):
                local = self.local(name)
                if local is not None:
                    return local
                if name == "NO_LABEL":
                    return "u32"
                return {bool: "bool", int: "int", float: "float"}.get(type(self.program.constants.number(name)), "?")
            case ast.Attribute(value=value, attr=name):
                return self.type_of_attribute(value, name)
            case ast.Subscript(value=value):
                return self.type_of(value)
            case ast.Call(func=function, args=arguments):
                return self.type_of_call(function, arguments)
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Compare():
                return "bool"
            case ast.UnaryOp(operand=operand):
                return self.type_of(operand)
            case ast.BinOp(left=left, op=ast.LShift() | ast.RShift()):
                return self.type_of(left)
            case ast.BinOp(left=left, right=right):
                return joint(self.type_of(left), self.type_of(right))
            case ast.IfExp(body=body, orelse=other):
                return joint(self.type_of(body), self.type_of(other))
            case _:
                return "?"

    def type_of_attribute(self, value: ast.expr, name: str) -> str:
        program = self.program
        if is_self(value):
            if name in program.members:
                return {bool: "bool", int: "int", float: "float"}[type(program.members[name])]
            return program.parameters.get(name, "?")
        owner = last_name(value)
        if owner in SCALARS and self.is_global(value):
            return "u32" if name == "BITS" else owner
        kind = self.type_of(value)
        if kind in VIEWS and name in program.columns:
            return program.columns[name][0]
        return FIELDS.get(kind, {}).get(name, "?")

    def type_of_call(self, function: ast.expr, arguments: Sequence[ast.expr]) -> str:
        name = last_name(function) or ""
        kinds = [self.type_of(argument) for argument in arguments]
        if isinstance(function, ast.Attribute):
            value = function.value
            if is_self(value):
                method = self.program.methods.get(name)
                if method is None or method.returns is None or is_none(method.returns):
                    return "?"
                return self.program.kind(method.returns)
            kind = self.type_of(value)
            if kind in VIEWS:
                return self.program.columns[name][0] if name in self.program.columns else METHODS.get(name, "?")
            if kind in ("f32", "float"):
                return {"to_bits": "u32", "is_nan": "bool", "is_finite": "bool"}.get(name, "f32")
            if kind in INTEGERS:
                if name in ("leading_zeros", "trailing_zeros", "count_ones"):
                    return "u32"
                return kind.replace("i", "u") if name == "abs_diff" else kind
        if name in ("min", "max", "abs", "pow"):
            found = "?" if not kinds else kinds[0]
            for kind in kinds[1:]:
                found = joint(found, kind)
            return found
        casts = {"float": "f32", "bool": "bool", "Vote": "Vote", "fabs": "f32", "sqrt": "f32", "log": "f32"}
        return casts.get(name) or FUNCTIONS.get(name) or (name if name in SCALARS else "?")


RESERVED_VALUES = frozenset(
    {"Vote", "Schedule", "Activation", "LabelTotal", "NO_LABEL", "min", "max", "abs", "float", "range", "self", *SCALARS, *FUNCTIONS}
)


def mark(node: ast.AST) -> str:
    return f"\0{getattr(node, 'lineno', 1)}:{getattr(node, 'col_offset', 0) + 1}\1"


def safe(name: str) -> str:
    """Returns a name of an item of the class that is no word of Rust."""
    return f"{name}_" if name in RESERVED else name


def local_name(name: str) -> str:
    """Returns a name of a variable that is no word of Rust; those of two variables differ: ``type`` becomes ``type_``, and ``type_``
    becomes ``type__``."""
    return f"{name}_" if name.rstrip("_") in RESERVED else name


def written(value: int | float | bool, kind: str | None) -> str:
    """Returns a literal."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if kind == "f32" or isinstance(value, float):
        number = float(value)
        if number != number or number in (float("inf"), float("-inf")):
            return {"nan": "f32::NAN", "inf": "f32::INFINITY", "-inf": "f32::NEG_INFINITY"}[repr(number)]
        text = repr(number)
    else:
        text = str(value)
    return f"({text})" if text.startswith("-") and kind is None else text


def zero(kind: str) -> str:
    return {"f32": "0.0", "bool": "false"}.get(kind, "0")


def joint(a: str, b: str) -> str:
    """Returns the type of two values that must have the same."""
    if a in ("int", "float", "?") and b not in ("?",):
        return b if a != "float" or b != "int" else a
    return a


def last_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def every_target(node: ast.stmt) -> set[str]:
    """Returns the variables that a statement, or one within, sets."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def definitely(node: ast.stmt) -> set[str] | None:
    """Returns the variables that have a value after a statement; ``None`` if nothing comes after it."""
    match node:
        case ast.Return() | ast.Break() | ast.Continue():
            return None
        case ast.If(body=body, orelse=other):
            if not other:
                return set()
            a, b = definitely_of(body), definitely_of(other)
            if a is None or b is None:
                return b if a is None else a
            return a & b
        case ast.For() | ast.While():
            return set()
        case _:
            return every_target(node)


def definitely_of(body: Sequence[ast.stmt]) -> set[str] | None:
    found: set[str] = set()
    for statement in body:
        more = definitely(statement)
        if more is None:
            return None
        found |= more
    return found


NAMES = {
    "Dict": "dict", "List": "list", "Set": "set", "Tuple": "tuple", "ListComp": "comprehension", "SetComp": "comprehension",
    "DictComp": "comprehension", "GeneratorExp": "generator", "JoinedStr": "text", "Lambda": "lambda", "Try": "try",
    "With": "with", "Raise": "raise", "Assert": "assert", "NamedExpr": ":=", "Match": "match; use if and elif", "For": "for with an else, or over several variables",
    "While": "while with an else", "FunctionDef": "function within a hook", "ClassDef": "class within a hook", "Await": "await",
    "Yield": "yield", "Import": "import", "ImportFrom": "import", "Global": "global", "Nonlocal": "nonlocal", "Delete": "del",
    "Constant": "text or None", "Starred": "*", "Slice": "slice", "AnnAssign": "variable without a value",
}


def named(node: ast.AST) -> str:
    kind = type(node).__name__
    return NAMES.get(kind, kind)


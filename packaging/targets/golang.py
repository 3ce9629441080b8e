"""Reads the schemas that providers of Terraform write as literals of Go.

Only literals are read: maps, structs, lists, calls. The value of an expression that is computed is unknown, and a property
whose schema is computed is left to the other sources. Nothing is compiled or run.
"""

import re
from pathlib import Path

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<str>"(?:\\.|[^"\\])*"|`[^`]*`)|(?P<rune>'(?:\\.|[^'\\])*')"""
    r"""|(?P<num>\d[\w.]*)|(?P<id>[A-Za-z_]\w*)|(?P<op>:=|==|!=|<=|>=|&&|\|\||<-|\.\.\.|.)""",
    re.S,
)
OPEN, CLOSE = "([{", ")]}"
BINARY = {"+", "-", "*", "/", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "%"}


def tokens(text):
    found = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "skip":
            # A line break ends a statement.
            if "\n" in match.group():
                found.append(("nl", "\n"))
            continue
        value = match.group()
        if kind == "str":
            value = value[1:-1] if value[0] == "`" else re.sub(r"\\(.)", r"\1", value[1:-1])
        found.append((kind, value))
    return found


class Composite:
    """A literal struct, map or list."""

    def __init__(self, type, items):
        self.type, self.items = type, items

    def get(self, name):
        for key, value in self.items:
            if key == ("id", name) or key == ("str", name):
                return value
        return None


class Call:
    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments


class Name(str):
    """A constant, a variable or a function, with the package that defines it."""


UNKNOWN = object()


class Parser:
    def __init__(self, found, at=0):
        self.tokens, self.at = found, at

    def peek(self, ahead=0):
        at = self.at
        while True:
            if at >= len(self.tokens):
                return ("end", "")
            if self.tokens[at][0] != "nl":
                if ahead == 0:
                    return self.tokens[at]
                ahead -= 1
            at += 1

    def next(self):
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "nl":
            self.at += 1
        token = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        self.at += 1
        return token

    def skip_group(self):
        """Skips a group of brackets that starts here."""
        depth = 0
        while True:
            kind, value = self.next()
            if kind == "end":
                return
            if kind == "op" and value in OPEN:
                depth += 1
            elif kind == "op" and value in CLOSE:
                depth -= 1
                if depth == 0:
                    return

    def expression(self):
        value = self.unary()
        while self.peek()[0] == "op" and self.peek()[1] in BINARY:
            operator = self.next()[1]
            other = self.unary()
            value = self.binary(operator, value, other)
        return value

    @staticmethod
    def binary(operator, left, right):
        try:
            if operator == "*":
                return left * right
            if operator == "-":
                return left - right
            if operator == "+":
                return left + right
        except TypeError:
            pass
        return UNKNOWN

    def unary(self):
        kind, value = self.peek()
        if kind == "op" and value in "&*!":
            self.next()
            return self.unary()
        if kind == "op" and value == "-":
            self.next()
            inner = self.unary()
            return -inner if isinstance(inner, (int, float)) else UNKNOWN
        return self.postfix(self.primary())

    def primary(self):
        kind, value = self.next()
        if kind == "str":
            return value
        if kind == "num":
            return number(value)
        if kind == "rune":
            return UNKNOWN
        if kind == "op" and value == "(":
            inner = self.expression()
            self.next()
            return inner
        if kind == "op" and value == "{":
            self.at -= 1
            return self.composite("")
        if kind == "op" and value == "[":
            return self.list_type()
        if kind == "id" and value == "map":
            return self.map_type()
        if kind == "id" and value == "func":
            self.function()
            return UNKNOWN
        if kind == "id":
            return self.name(value)
        return UNKNOWN

    def name(self, value):
        while self.peek() == ("op", ".") and self.peek(1)[0] == "id":
            self.next()
            value += "." + self.next()[1]
        return Name(value)

    def list_type(self):
        while self.peek() != ("op", "]"):
            if self.next()[0] == "end":
                return UNKNOWN
        self.next()
        inner = self.type()
        return self.literal_of("[]" + inner)

    def map_type(self):
        self.next()
        key = self.type()
        self.next()
        return self.literal_of(f"map[{key}]" + self.type())

    def literal_of(self, name):
        if self.peek() == ("op", "{"):
            return self.composite(name)
        if self.peek() == ("op", "("):
            self.skip_group()
        return UNKNOWN

    def type(self):
        kind, value = self.next()
        if kind == "op" and value == "*":
            return "*" + self.type()
        if kind == "op" and value == "[":
            while self.next()[1] != "]":
                pass
            return "[]" + self.type()
        if kind == "id" and value == "map":
            self.next()
            key = self.type()
            self.next()
            return f"map[{key}]" + self.type()
        if kind == "id" and value in ("interface", "struct"):
            self.skip_group()
            return value
        if kind == "id" and value == "func":
            self.function_type()
            return "func"
        return str(self.name(value))

    def function_type(self):
        self.skip_group()
        while self.peek()[0] == "id" or self.peek()[1] in "*[(":
            if self.peek()[1] in "([":
                self.skip_group()
            else:
                self.next()

    def function(self):
        """Skips a function literal."""
        self.skip_group()
        while self.peek() != ("op", "{"):
            if self.peek()[1] in ("(", "["):
                self.skip_group()
            elif self.peek() == ("id", "interface"):
                self.next()
                self.skip_group()
            elif self.next()[0] == "end":
                return
        self.skip_group()

    def postfix(self, value):
        while True:
            kind, token = self.peek()
            if kind != "op":
                return value
            if token == "[" and isinstance(value, Name):
                self.next()
                inner = self.type()
                while self.peek() != ("op", "]") and self.peek()[0] != "end":
                    self.next()
                self.next()
                value = Name(f"{value}[{inner}]")
            elif token == "(":
                value = Call(str(value) if isinstance(value, Name) else "", self.arguments())
            elif token == "{" and isinstance(value, Name):
                value = self.composite(str(value))
            elif token == ".":
                self.next()
                name = self.next()[1]
                value = Name(name) if name != "(" else UNKNOWN
            else:
                return value

    def arguments(self):
        self.next()
        found = []
        while self.peek() != ("op", ")"):
            if self.peek()[0] == "end":
                return found
            found.append(self.expression())
            if self.peek()[1] in (",", "..."):
                self.next()
            elif self.peek() != ("op", ")"):
                self.next()
        self.next()
        return found

    def composite(self, type):
        self.next()
        items = []
        while self.peek() != ("op", "}"):
            if self.peek()[0] == "end":
                break
            start = self.at
            key = None
            if self.peek()[0] in ("id", "str"):
                first = self.expression()
                if self.peek() == ("op", ":"):
                    self.next()
                    kind = "id" if isinstance(first, Name) else "str"
                    key = (kind, str(first)) if isinstance(first, str) else None
                    value = self.expression()
                else:
                    value = first
            else:
                value = self.expression()
            items.append((key, value))
            if self.peek() == ("op", ","):
                self.next()
            elif self.at == start:
                self.next()
        self.next()
        return Composite(type, items)


def number(text):
    try:
        return int(text, 0)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return UNKNOWN


class Package:
    """The functions and variables of one directory of Go."""

    def __init__(self, directory):
        self.functions, self.variables, self.constants = {}, {}, {}
        self.imports = {}
        for path in sorted(Path(directory).glob("*.go")):
            if not path.name.endswith("_test.go"):
                self.read(path.read_text(encoding="utf-8", errors="replace"))

    def read(self, text):
        for match in re.finditer(r'^\s*(?:(\w+) )?"([\w./-]+)"$', text, re.M):
            path = match.group(2)
            name = match.group(1) or re.sub(r"/v\d+$", "", path).rpartition("/")[2]
            # Files of one package may use one name for several API versions.
            self.imports.setdefault(name, set()).add(path)
        for match in re.finditer(r"^func (?:\(\w* ?\*?(\w+)\) )?(\w+)\(", text, re.M):
            end = text.find("\n}", match.end())
            # A method is also indexed by the name of its type.
            name = f"{match.group(1)}/{match.group(2)}" if match.group(1) else match.group(2)
            self.functions.setdefault(name, text[match.start() : end + 2])
        for match in re.finditer(r"^var (\w+)(?: [^=\n]+)? = ", text, re.M):
            self.variables.setdefault(match.group(1), text[match.end() :])
        for match in re.finditer(r"^\t(\w+)(?: [^=\n]+)? = (?=\[\]string\{|map\[)", text, re.M):
            self.variables.setdefault(match.group(1), text[match.end() :])
        for match in re.finditer(r'^\s*(?:const )?(\w+)(?: +\w+)? += +("(?:[^"\\]|\\.)*"|-?[\d_.]+)\s*$', text, re.M):
            value = match.group(2)
            self.constants.setdefault(match.group(1), value[1:-1] if value[0] == '"' else number(value))

    def has(self, name):
        return name in self.constants or name in self.variables or name in self.functions

    def value(self, name):
        """Returns the definition of a name in this package."""
        if name in self.constants:
            return self.constants[name]
        if name in self.variables:
            return Parser(tokens(self.variables[name][:400_000])).expression()
        return UNKNOWN

    def result(self, name):
        """Returns a function's result, if it is a literal or a map that the function fills first."""
        text = self.functions.get(name)
        if not text:
            return UNKNOWN
        returns = list(re.finditer(r"^\treturn ", text, re.M))
        if not returns:
            return UNKNOWN
        value = Parser(tokens(text[returns[-1].end() :])).expression()
        if isinstance(value, Name) and "." not in value:
            value = self.filled(text, str(value))
        elif isinstance(value, Composite) and isinstance(value.get("Schema"), Name):
            # A resource whose schema is created before.
            value.items = [
                (k, self.filled(text, str(v)) if k == ("id", "Schema") and isinstance(v, Name) else v)
                for k, v in value.items
            ]
        return value

    def filled(self, text, name):
        made = re.search(rf"^\t(?:var )?{name}(?: [^=\n]+)? :?= ", text, re.M)
        if not made:
            return self.value(name)
        value = Parser(tokens(text[made.end() :])).expression()
        if isinstance(value, Composite) and isinstance(value.get("Schema"), Name):
            inner = self.filled(text, str(value.get("Schema")))
            value.items = [(k, inner if k == ("id", "Schema") else v) for k, v in value.items]
        if isinstance(value, Composite):
            # Only the current version counts. Settings inside a condition are for older versions.
            for match in re.finditer(rf'^\t{name}\["(\w+)"\] = ', text, re.M):
                value.items.append((("str", match.group(1)), Parser(tokens(text[match.end() :])).expression()))
        return value

#!/usr/bin/env python3
"""Writes docs/api/: what the headers and the Python package say of themselves, one page each.
api_reference.py [--check]

Everything is read from the text: of gemm.h each comment before or beside a declaration, of gemm.hpp
each public declaration with the comment above it, of the Python package what __all__ names."""
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTE = "Generated from [{0}](../../{0}) by `tools/tables/api_reference.py`; a test compares.\n"


def prose(comment):
    """The text of a comment of either kind, without its marks, as one paragraph."""
    lines = [re.sub(r"^\s*(/\*+|\*/|\*(?!/)|//)\s?", "", line) for line in comment.splitlines()]
    text = " ".join(line.replace("*/", "").strip() for line in lines)
    return re.sub(r"\s+", " ", text).strip()


def cell(text):
    return text.replace("|", "\\|")


# gemm.h

PIECE = re.compile(r"""(?P<comment>/\*.*?\*/)
  | ^\#define[ ](?P<define>\w+)(?P<value>[^\n/]*)
  | (?P<enum>typedef\ enum\ (?P<enum_name>\w+)\ \{(?P<enum_body>.*?)\}\ \w+;)
  | (?P<struct>typedef\ struct\ (?P<struct_name>\w+)\ \{(?P<struct_body>.*?)\n\}\ \w+;)
  | (?P<other>^(?!\#|typedef\ (?:enum|struct)\ \w+\ \{)[^\n;{}/]+\([^;]*\);
             |^typedef\ struct\ \w+\*\ \w+;)""", re.X | re.S | re.M)

MEMBER = re.compile(r"(?P<comment>/\*.*?\*/)|^#define (?P<define>\w+)(?P<value>[^\n/]*)"
                    r"|(?P<declaration>[^;/#]+);", re.S | re.M)


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def members(body):
    """(declaration, meaning) of each field of a struct; the constants defined beside one, too."""
    found = []
    for piece in MEMBER.finditer(body):
        if piece["comment"]:
            name, text = found[-1]
            found[-1] = (name, (text + " " + prose(piece["comment"])).strip())
        elif piece["define"]:
            found.append((f"{piece['define']} = {squeezed(piece['value'])}", ""))
        else:
            found.append((squeezed(piece["declaration"]), ""))
    return found


def enumerators(body):
    found = []
    for piece in re.finditer(r"(?P<comment>/\*.*?\*/)|(?P<name>\w+) = (?P<value>-?\d+)", body, re.S):
        if piece["comment"]:
            name, text = found[-1]
            found[-1] = (name, prose(piece["comment"]))
        else:
            found.append((f"{piece['name']} = {piece['value']}", ""))
    return found


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + [f"| `{name}` | {cell(text)} |" for name, text in rows] + [""]


def c_declarations(text):
    """(kind, name, code, comment, rows) of each declaration, in the header's order."""
    comment = ""
    inside = text[text.index("#define TESSERA_VERSION "):text.rindex("#ifdef __cplusplus")]
    for piece in PIECE.finditer(inside):
        if piece["comment"]:
            comment = prose(piece["comment"])
            continue
        if piece["define"]:
            yield "constant", piece["define"], piece["value"].strip(), "", []
        elif piece["enum"]:
            yield "enum", piece["enum_name"], "", comment, enumerators(piece["enum_body"])
        elif piece["struct"]:
            yield "struct", piece["struct_name"], "", comment, members(piece["struct_body"])
        else:
            code = piece["other"].strip()
            name = re.search(r"\(\*(\w+)\)|(\w+)\(|(\w+);$", code)
            kind = "type" if code.startswith("typedef") else "function"
            yield kind, next(n for n in name.groups() if n), code, comment, []
        comment = ""


def c_functions(text):
    out = ["# The C interface", "", NOTE.format("include/tessera/gemm.h"),
           prose(text[:text.index("*/") + 2]), "", "Structs and constants: [c-types.md](c-types.md).", ""]
    for kind, name, code, comment, _ in c_declarations(text):
        if kind in ("function", "type"):
            out += [f"## {name}", "", "```c", code, "```", ""] + ([comment, ""] if comment else [])
    return "\n".join(out).rstrip() + "\n"


def c_types(text):
    out = ["# Structs and constants of the C interface", "", NOTE.format("include/tessera/gemm.h"),
           prose(re.search(r"/\* The first field of each struct.*?\*/", text, re.S)[0]), ""]
    for wanted, head in (("struct", "field"), ("enum", "value")):
        for kind, name, _, comment, rows in c_declarations(text):
            if kind == wanted:
                out += [f"## {name}", ""] + ([comment, ""] if comment else []) + table((head, "meaning"), rows)
    return "\n".join(out).rstrip() + "\n"


# gemm.hpp

CLAUSE = re.compile(r"\s*template <[^>]*>\n\s*requires requires\([^)]*\) \{[^;]*;(?:[^;]*;)*\s*\}$")


def cpp_declarations(text):
    """(is_member, code, comment lines) of what is public; a class comes before its members."""
    text = re.sub(r"namespace detail \{.*?\}  // namespace detail\n", "", text, flags=re.S)
    comment, code, depth, is_private, is_member = [], [], 0, False, False
    for line in text[text.index("namespace tessera {"):].splitlines()[1:]:
        bare = line.strip()
        if depth == 0 and not code:
            if line in ("};", "}  // namespace tessera"):
                comment, is_private, is_member = [], False, False
                continue
            if bare in ("private:", "public:") or not bare:
                is_private = bare == "private:" or (is_private and not bare)
                comment = []
                continue
            if bare.startswith("//"):
                comment.append(bare)
                continue
        code.append(line)
        depth += line.count("{") - line.count("}")
        is_class = not is_member and re.match(r"(class|struct) \w+[^;]*\{$", bare)
        if is_class and depth == 1:
            yield False, "\n".join(code)[:-2], comment
            is_member, comment, code, depth = True, [], [], 0
        elif depth == 0 and bare.endswith((";", "}")) and not CLAUSE.match("\n".join(code)):
            if not is_private:
                yield is_member, without_body(code), comment
            comment, code = [], []


def without_body(lines):
    """A declaration without what it does: no body, no initialisers of a constructor."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    code = "\n".join(re.sub(r"\s*// NOLINT.*", "", line[indent:]) for line in lines)
    if lines[-1].strip().endswith("}"):
        opened, closed = 0, len(code)
        for closed in range(len(code) - 1, -1, -1):  # back to where the body opens
            opened += (code[closed] == "}") - (code[closed] == "{")
            if opened == 0 and code[closed] == "{":
                break
        code = code[:closed].rstrip()
        code = re.sub(r"\)( noexcept)?\s+:\s+[\w:]+[({].*$", r")\1", code, flags=re.S) + ";"
    return code


def cpp_page(text):
    out = ["# The C++ interface", "", NOTE.format("include/tessera/gemm.hpp"),
           prose(text[:text.index("#pragma once")]), "",
           "All names are in the namespace `tessera`. Bodies are left out.", "", "```cpp"]
    was_member = False
    for is_member, code, comment in cpp_declarations(text):
        if was_member and not is_member:
            out += ["};"]
        head = re.match(r"(?:template <[^>]*>\s*)?(?:class|struct) (\w+)", code)
        is_class = bool(head) and not is_member
        if is_class:
            out += ["```", "", f"## {head[1]}", ""]
            out += [prose("\n".join(comment)), ""] if comment else []
            out += ["```cpp", code + " {"]
        else:
            if not is_member and (was_member or comment):
                out += [""] if out[-1] != "```cpp" else []
            pad = "  " if is_member else ""
            out += [pad + line for line in comment + code.splitlines()]
        was_member = is_member or is_class
    page = "\n".join(out + (["};"] if was_member else []) + ["```"])
    return page.replace("```cpp\n```\n\n", "") + "\n"


# The Python package

def signature(node):
    text = ast.unparse(node.args).replace("self, ", "").replace("self", "")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({text}){returns}"


def described(node):
    """A docstring as lines of a page: what is indented in it is code."""
    raw = ast.get_docstring(node, clean=False)
    if not raw:
        return []
    indent = " " * node.body[0].col_offset
    lines = [line.removeprefix(indent).rstrip() for line in raw.splitlines()]
    out, is_code = [], False
    for line in lines + [""]:
        if line and line.startswith("    ") != is_code:
            is_code = not is_code
            out.append("```python" if is_code else "```")
            if not is_code:
                out.append("")
        out.append(line.removeprefix("    ") if is_code else line)
    if is_code:
        out += ["```", ""]
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"\n+```\n", "\n```\n", "\n".join(out))).splitlines()


def python_entry(node, owner=""):
    doc = described(node)
    if isinstance(node, ast.FunctionDef):
        name = owner if node.name == "__call__" else f"{owner}.{node.name}" if owner else node.name
        yield f"{name}{signature(node)}", doc
        return
    first = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    is_data = any("dataclass" in ast.unparse(one) for one in node.decorator_list)
    fields = [ast.unparse(one) for one in node.body if isinstance(one, ast.AnnAssign)] if is_data else []
    head = f"class {node.name}{signature(first) if first else f'({bases})' if bases else ''}"
    yield "\n    ".join([head] + fields), doc
    for member in node.body:
        shown = isinstance(member, ast.FunctionDef) and (not member.name.startswith("_") or
                                                         member.name == "__call__")
        if shown:
            yield from python_entry(member, node.name.lower())


def python_page(package):
    init = ast.parse((package / "__init__.py").read_text())
    names = next(ast.literal_eval(node.value) for node in init.body if isinstance(node, ast.Assign)
                 and node.targets[0].id == "__all__")
    nodes = {}
    for path in sorted(package.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and (
                    path.name != "torch_op.py") and node.name not in nodes:
                nodes[node.name] = node
    # Where names meet, the one that __init__ imports counts.
    for node in init.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            source = ast.parse((package / f"{node.module}.py").read_text())
            nodes.update({n.name: n for n in source.body if getattr(n, "name", None) in
                          {alias.name for alias in node.names}})
    out = ["# The Python package", "", NOTE.format("python/tessera/__init__.py")]
    out += described(init) + [""]
    functions = [n for n in names if isinstance(nodes[n], ast.FunctionDef)]
    for name in functions + [n for n in names if n not in functions]:
        out += [f"## {name}", ""]
        for code, doc in python_entry(nodes[name]):
            out += ["```python", code, "```", ""] + doc + ([""] if doc and doc[-1] else [])
    operator = ast.parse((package / "torch_op.py").read_text())
    out += ["## tessera.torch_op", ""] + described(operator) + [""]
    for node in operator.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            for code, doc in python_entry(node):
                out += ["```python", code, "```", ""] + doc + ([""] if doc and doc[-1] else [])
    return "\n".join(out).rstrip() + "\n"


def pages(root):
    header = (root / "include/tessera/gemm.h").read_text()
    return {"docs/api/c.md": c_functions(header), "docs/api/c-types.md": c_types(header),
            "docs/api/cpp.md": cpp_page((root / "include/tessera/gemm.hpp").read_text()),
            "docs/api/python.md": python_page(root / "python/tessera")}


def main():
    stale = 0
    for name, wanted in pages(ROOT).items():
        path = ROOT / name
        if path.exists() and path.read_text() == wanted:
            continue
        stale += 1
        if "--check" in sys.argv:
            print(f"{name} is out of date: run tools/tables/api_reference.py")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted)
            print(f"{name} updated")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())

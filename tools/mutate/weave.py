"""Compiles mistakes into a C++ file as switches, so that one build holds them all.

The file keeps its text; a changed expression is wrapped in `(mistake::is(17) ? (a <= b) : (` ... `))`, and a changed
statement in `if (mistake::is(17)) { ... } else { ... }`. So switches nest, and lines keep their numbers. This is
done on the text alone, and the compiler says what it does not understand: then the next form is tried, and at the
end none, and the mistake is compiled by itself (direct.py).
"""
import re

OPENERS, CLOSERS = "([{", ")]}"
PAIR = dict(zip(CLOSERS, OPENERS))

# Which mistake a process makes, from its environment; and which it could have made, in a file of a byte for each.
# A constant expression makes none, so that constants stay constants.
HEADER = """#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace mistake {
struct Chosen {
  int number = -1;
  volatile unsigned char* reached = nullptr;
  Chosen() {
    if (const char* text = std::getenv("TESSERA_MISTAKE")) number = std::atoi(text);
    if (const char* path = std::getenv("TESSERA_REACHED")) {
      const int file = open(path, O_RDWR);
      void* bytes = file < 0 ? MAP_FAILED : mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (bytes != MAP_FAILED) reached = static_cast<unsigned char*>(bytes);
      if (file >= 0) close(file);
    }
  }
};
inline bool is_chosen(int number) {
  static const Chosen chosen;
  if (chosen.reached) chosen.reached[number] = 1;
  return chosen.number == number;
}
constexpr bool is(int number) { return std::is_constant_evaluated() ? false : is_chosen(number); }
}  // namespace mistake
"""
REACHED_BYTES = 4096


def blanked(text, words=True):
    """Comments, and texts and characters unless `words` is false, are spaces; every other place is the same."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^()\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                       r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.DOTALL)

    def blank(match):
        if match[0][0] != "/" and not words:
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])
    return token.sub(blank, text)


def offset_of(text, mutant):
    """Where the mutant's line begins in its file."""
    lines = text.split("\n")
    number = [i for i, line in enumerate(lines) if line == mutant.before][mutant.skip]
    return sum(len(line) + 1 for line in lines[:number])


def changed(text, mutant):
    """(begin, end) of what the mutant replaces, and by what."""
    before, after = mutant.before, mutant.after
    limit = min(len(before), len(after))
    same = next((i for i in range(limit) if before[i] != after[i]), limit)
    rest = next((i for i in range(limit - same) if before[-1 - i] != after[-1 - i]), limit - same)
    at = offset_of(text, mutant)
    return at + same, at + len(before) - rest, after[same:len(after) - rest]


def balance(text):
    """(how many are closed that were not opened, how many stay open)."""
    closed = opened = 0
    for one in text:
        if one in OPENERS:
            opened += 1
        elif one in CLOSERS:
            closed, opened = (closed, opened - 1) if opened else (closed + 1, opened)
    return closed, opened


def at_depth_0(text, what):
    depth = 0
    for i, one in enumerate(text):
        depth += (one in OPENERS) - (one in CLOSERS)
        if depth == 0 and text.startswith(what, i):
            return True
    return False


def is_assignment(code, i):
    return code[i] == "=" and code[i + 1] != "=" and not (code[i - 1] in "=!<>" and code[i - 2:i] not in ("<<", ">>"))


def is_colon(code, i):
    return code[i] == ":" and code[i + 1] != ":" and code[i - 1] != ":"


def scan_left(code, i, stops):
    """The first place of what ends before i, at one depth; `stops`: whether code at a place ends it."""
    depth = 0
    while i > 0:
        one = code[i - 1]
        if one in CLOSERS:
            if one == "}" and depth == 0 and re.match(r"[ ]*\n", code[i:]):
                return i
            depth += 1
        elif one in OPENERS:
            if depth == 0:
                return i
            depth -= 1
        elif depth == 0 and stops(code, i - 1):
            return i
        i -= 1
    return 0


def scan_right(code, i, stops):
    depth = 0
    while i < len(code):
        one = code[i]
        if one in OPENERS:
            depth += 1
        elif one in CLOSERS:
            if depth == 0:
                return i
            depth -= 1
        elif depth == 0 and stops(code, i):
            return i
        i += 1
    return len(code)


def ends_statement(code, i):
    return code[i] == ";"


def stops_of(code, span):
    """What an expression around the span ends at: an operator that binds less than those inside of it."""
    wide = any(at_depth_0(span, word) for word in ("&&", "||"))

    def stops(code, i):
        if code[i] in ";,?" or is_colon(code, i) or is_assignment(code, i):
            return True
        return not wide and (code.startswith(("&&", "||"), i) or code.startswith(("&&", "||"), i - 1))
    return stops


def expression(code, begin, end, new):
    """(begin, end) of the whole expression that is changed, or None."""
    while True:
        for text in (code[begin:end], code[begin:begin] + new):
            closed, opened = balance(text)
            if closed:
                begin = scan_left(code, begin, lambda *_: False) - 1
            if opened:
                end = scan_right(code, end, lambda *_: False) + 1
            if closed or opened:
                return None  # half of a bracket: a statement
        if not at_depth_0(code[begin:end] + " ", ",") and not at_depth_0(new + " ", ","):
            break
        # An argument list: with its brackets, and the name before them.
        outer, after = scan_left(code, begin, ends_statement), scan_right(code, end, ends_statement)
        if outer == 0 or code[outer - 1] not in "([" or code[after:after + 1] not in (")", "]"):
            return None
        begin, end, new = outer - 1, after + 1, ""
    stops = stops_of(code, code[begin:end] + new)
    first, last = scan_left(code, begin, stops), scan_right(code, end, stops)
    while match := re.match(r"\s*(return|else|do|throw)\b|\s+", code[first:last]):
        first += match.end()
    if code[last:last + 1] == "=" and code[last - 1] in "+-*/%&|^":
        last -= 1
    last = first + len(code[first:last].rstrip())
    is_one = first <= begin and last >= end and first < last and not KEYWORD.match(code, first)
    return (first, last) if is_one else None


KEYWORD = re.compile(r"(if|for|while|switch|continue|break|case)\b")
DECLARES = re.compile(r"(const|auto|static|constexpr|using|struct|template|public|private|case|default|else|inline)\b"
                      r"|[\w:]+(<[^;()]*>)?[ &*]+\w+\s*([=({;]|$)")


def statement(code, begin, end):
    """(begin, end) of the simple statement that is changed, or None."""
    first = begin
    while True:
        first = scan_left(code, first, ends_statement)
        if first == 0 or code[first - 1] not in "([":
            break
        first -= 1
    last = end
    while True:
        last = scan_right(code, last, ends_statement)
        if last >= len(code) or code[last] not in ")]":
            break
        last += 1
    if last >= len(code) or code[last] != ";" or balance(code[first:last]) != (0, 0):
        return None
    first += len(code[first:]) - len(code[first:].lstrip())
    text = code[first:last + 1]
    kept = re.match(r"(return|throw|delete|continue|break)\b", text)
    whole = re.match(r"(if|for|while|switch|do)\b", text) and re.search(r"\{[^{}]*;", text)  # and what follows it
    return None if "#" in text or whole or (not kept and DECLARES.match(text)) else (first, last + 1)


def forms(text, mutant):
    """Ways to make the mistake a switch, the best one first: (kind, begin, end, what it says instead)."""
    code = blanked(text)
    begin, end, new = changed(text, mutant)
    new_text = text[:begin] + new + text[end:]
    plain = blanked(new_text, words=False)
    grown = len(new) - (end - begin)
    found = []
    around = statement(code, begin, end)
    line = code[code.rfind("\n", 0, begin) + 1:end]
    if re.search(r"\bconstexpr\b|static_assert|^\s*#", line):
        return []  # a constant, which a switch does not change
    inner = expression(code, begin, end, new)
    for kind, place in (("expression", inner), ("statement", around)):
        if place:
            said = " ".join(plain[place[0]:place[1] + grown].split("\n"))
            found += [(kind, *place, said)] if said.strip() or kind == "statement" else []
    return found


def woven(text, switches):
    """The file with its switches, of (number, kind, begin, end, what it says instead)."""
    opened, closed = {}, {}
    order = sorted(switches, key=lambda one: (one[2], -one[3], one[0]))
    for number, kind, begin, end, said in order:
        if kind == "statement":
            head, tail = f"if (mistake::is({number})) {{ {said} }} else {{ ", " }"
        else:
            head, tail = f"(mistake::is({number}) ? ({said}) : (", "))"
        opened[begin] = opened.get(begin, "") + head
        closed[end] = tail + closed.get(end, "")
    parts, at = [], 0
    for place in sorted(set(opened) | set(closed)):
        parts += [text[at:place], closed.get(place, ""), opened.get(place, "")]
        at = place
    return "".join(parts) + text[at:]


def crossing(switches, one):
    """Whether a switch would overlap another without holding it."""
    _, _, begin, end, _ = one
    return any(begin < b < end < e or b < begin < e < end for _, _, b, e, _ in switches)

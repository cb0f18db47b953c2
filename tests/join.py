#!/usr/bin/env python3
"""join.py out name=path... : several programs as one file, so that the compiler reads the library and instantiates a model
once for all of them. Each stands in a namespace of its own, what they include before all of them; the joined program's first
argument names the one to run."""
import pathlib
import re
import sys

out, *programs = sys.argv[1:]
includes, bodies, calls = [], [], []
for program in programs:
    name, path = program.split("=", 1)
    lines = pathlib.Path(path).read_text().splitlines()
    included = [line for line in lines if line.startswith("#include ")]
    if any(line.startswith("#if") for line in lines):
        sys.exit(f"{path}: expected no #if around what is included: everything is included first")
    includes += included
    text = "\n".join("" if line in included else line for line in lines)
    text, count = re.subn(r"^int main\((.*)\) (try )?\{$", r"int run(\1) \2{", text, flags=re.MULTILINE)
    if count != 1 or not text.endswith("\n}"):
        sys.exit(f"{path}: expected one `int main(...) {{`, and nothing behind it")
    # What only main may leave out.
    text = text.removesuffix("}") + "return 0;\n}"
    text = re.sub(r"^\} catch (?!.*^\} catch )", "return 0; } catch ", text, flags=re.MULTILINE | re.DOTALL)
    arguments = "argc - 1, argv + 1" if re.search(r"^int run\(int", text, re.MULTILINE) else ""
    bodies.append(f'namespace program_{name} {{\n#line 1 "{path}"\n{text}\n}}  // namespace program_{name}\n')
    calls.append(f'  if (name == "{name}") return program_{name}::run({arguments});\n')

includes = sorted(set(includes), key=lambda line: ("<bahdanau" not in line and '"' not in line, line))
joined = "\n".join(includes) + "\n\n" + "\n".join(bodies)
joined += "\nint main(int argc, char** argv) {\n  const std::string_view name = argc > 1 ? argv[1] : \"\";\n"
joined += "".join(calls) + "  return 2;\n}\n"
pathlib.Path(out).write_text("#include <string_view>\n" + joined)

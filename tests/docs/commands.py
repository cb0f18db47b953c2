#!/usr/bin/env python3
"""The shell commands that our pages show exist, and so do their options and the files of ours that they name.

    commands.py ROOT [TOOL]

A script of ours must be there, executable, and know the options it is given; a preset must be CMake's; a command of
`bahdanau` must have its options in the sources of the tool, and, where the built TOOL is given, in its --help. The
commands of docs/use.md are run, too, by tests/package.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

PAGES = ["README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md"]
OTHERS = {"cmake", "g++", "export", "python3", "conan", "curl", "echo", "mpirun", "scontrol", "srun", "test", "}"}  # not ours
OURS = ("benchmarks/", "cmake/", "conan/", "docs/", "examples/", "recipes/", "test_package/", "tests/")


def commands(page):
    """-> [(line number, [words])] of its blocks of sh; a pipe and && divide commands, a backslash joins lines"""
    language, joined = None, ""
    for number, line in enumerate(page.read_text().split("\n"), 1):
        if line.startswith("```"):
            language = None if language is not None else line[3:].strip()
        elif language == "sh":
            joined += line
            if joined.endswith("\\"):
                joined = joined[:-1]
                continue
            lexer = shlex.shlex(joined, posix=True, punctuation_chars="|&;<>")
            lexer.whitespace_split = True
            joined, words = "", []
            for word in list(lexer) + [";"]:
                if re.fullmatch(r"[|&;]+", word):
                    if words:
                        yield number, words
                    words = []
                else:
                    words.append(word)


def options(words):
    return [word.split("=")[0] for word in words if re.match(r"--[a-z]", word)]


class Checker:
    def __init__(self, root, tool):
        self.root, self.tool, self.help = root, tool, {}
        self.sources = "".join(file.read_text() for file in sorted((root / "examples/cli").glob("*.[ch]pp")))
        presets = json.loads((root / "CMakePresets.json").read_text())["configurePresets"]
        self.presets = {preset["name"] for preset in presets if not preset.get("hidden")}

    def wrong(self, words):
        """-> what is wrong with a command, sentence by sentence"""
        for word in words:
            path = word.lstrip("@")
            if path.startswith(OURS) and not (self.root / path).exists():
                yield f"expected a file or a folder {path}"
        words = words[words[0] == "{" and len(words) > 1:]
        name = words[0]
        if name in ("mpirun", "srun"):
            if "bahdanau" in words:
                yield from self.wrong_tool(words[words.index("bahdanau") + 1:], helped=False)  # not every build has MPI
        elif name == "bahdanau" or name.endswith("/bin/bahdanau"):
            yield from self.wrong_tool(words[1:], helped=True)
        elif name.startswith(OURS):
            yield from self.wrong_script(self.root / name, words[1:])
        elif name == "cmake" and "--preset" in words:
            preset = words[words.index("--preset") + 1]
            if preset not in self.presets:
                yield f"expected a preset among {sorted(self.presets)}, got {preset}"
        elif name not in OTHERS and not name.startswith("build/"):
            yield f"expected a command that is ours or among {sorted(OTHERS)}, got {name}"

    def wrong_script(self, script, words):
        if not script.is_file():
            return  # said above
        if not os.access(script, os.X_OK):
            yield f"expected {script.name} to be executable"
        for option in options(words):
            if not re.search(rf"{option}(?![\w-])", script.read_text()):
                yield f"expected {script} to know {option}"

    def wrong_tool(self, words, helped):
        if not words:
            yield "expected a command of bahdanau"
            return
        for option in options(words):
            if f'"{option}"' not in self.sources and not re.search(rf'"(-\w,)?{option}["{{]', self.sources):
                yield f"expected {option} in examples/cli"
        if self.tool is None or not helped:
            return
        command = words[0] if not words[0].startswith("-") else ""
        if command and not re.search(rf"^  {command} ", self.help_of(""), re.M):
            if command != "serve":  # not every build has it
                yield f"expected a command of the tool, got {command}"
            return
        for option in options(words):
            if not re.search(rf"(^|[\s,]){option}(?![\w-])", self.help_of(command)):
                yield f"expected {option} in the help of bahdanau {command}"

    def help_of(self, command):
        if command not in self.help:
            arguments = [command, "--help"] if command else ["--help"]
            self.help[command] = subprocess.run([self.tool, *arguments], capture_output=True, text=True, check=True).stdout
        return self.help[command]


def main(root, tool=None):
    root = pathlib.Path(root)
    checker, count, failed = Checker(root, tool), 0, False
    pages = [root / name for name in PAGES if (root / name).exists()]
    for page in pages + sorted((root / "docs").glob("*.md")) + sorted((root / "recipes").glob("*/README.md")):
        for number, words in commands(page):
            count += 1
            for sentence in checker.wrong(words):
                print(f"{page.relative_to(root)}:{number}: {sentence}")
                failed = True
    print(f"{count} commands")
    if count < 30:
        sys.exit("expected to find more commands than that")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

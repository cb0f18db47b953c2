// The arguments of every command, and what --help says of them.
#pragma once

namespace CLI {
class App;
}

namespace cli {

/// Adds all commands to the tool; the one that is called runs when the arguments are parsed.
void add_commands(CLI::App& app);

}  // namespace cli

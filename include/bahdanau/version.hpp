// The one version number of the library.
// CMake and Conan read it from these three lines; nothing else states it.
#pragma once

#define BAHDANAU_VERSION_MAJOR 0
#define BAHDANAU_VERSION_MINOR 2
#define BAHDANAU_VERSION_PATCH 0

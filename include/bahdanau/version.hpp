// The one version number of the library.
// CMake and Conan read it from these three lines; nothing else states it.
#pragma once

#define BAHDANAU_VERSION_MAJOR 0
#define BAHDANAU_VERSION_MINOR 1
#define BAHDANAU_VERSION_PATCH 0

# Flags of our own tests, examples and benchmarks. None of them reaches a consumer: nothing here is exported.

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_EXTENSIONS OFF)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
endif()

set(bahdanau_warning_flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
add_library(bahdanau_warnings INTERFACE)
target_compile_options(bahdanau_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${bahdanau_warning_flags}>"
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${BAHDANAU_WERROR}>>:-Werror>
  # All but -Wpedantic: nvcc marks lines in what it hands to the host's compiler by a GCC extension.
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion>"
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${BAHDANAU_WERROR}>>:-Werror=all-warnings>
  # g++ 12 at -O3 takes a literal of one letter + a string for an overlap (GCC's bug 105651).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)

add_library(bahdanau_build_flags INTERFACE)
target_link_libraries(bahdanau_build_flags INTERFACE bahdanau_warnings)
if(BAHDANAU_NATIVE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-march=native BAHDANAU_HAS_MARCH_NATIVE)
  if(BAHDANAU_HAS_MARCH_NATIVE)
    target_compile_options(bahdanau_build_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-march=native> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-march=native>)
  endif()
endif()
if(BAHDANAU_SANITIZE)
  target_compile_options(bahdanau_build_flags INTERFACE
    "-fsanitize=${BAHDANAU_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(bahdanau_build_flags INTERFACE "-fsanitize=${BAHDANAU_SANITIZE}")
endif()

# Half a minute of compiling a model is what all models share: for those who build everything once.
option(BAHDANAU_FEW_FILES
  "Compile tests and examples as few large files: faster as a whole, slower after a change to one of them" OFF)

# An executable of ours: the library, the flags, and the sources.
function(bahdanau_executable name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE bahdanau::bahdanau bahdanau_build_flags)
endfunction()

# Finds what the headers need, for our own build and for the installed package alike.
#
# Gives the target bahdanau::dependencies. When something is missing, bahdanau_missing_dependency is a sentence that
# names the packages to install, and there is no target. Everything is imported, so its headers are system headers.

cmake_policy(VERSION 3.22...3.30)

set(bahdanau_missing_dependency "")
if(TARGET bahdanau::dependencies)
  return()
endif()

find_package(Threads QUIET)
find_package(PkgConfig QUIET)
set(bahdanau_dependency_targets Threads::Threads)

# Finds `name` by its CMake package (any of TARGETS), else by HEADER and LIBRARY, with pkg-config's word for where.
# Appends to bahdanau_dependency_targets. NO_PACKAGE leaves the CMake package alone. A path can be set by hand in
# bahdanau_<name>_INCLUDE_DIR and bahdanau_<name>_LIBRARY.
function(bahdanau_find name)
  cmake_parse_arguments(arg "NO_PACKAGE" "VERSION;HEADER;LIBRARY;PKG_CONFIG;DEBIAN;CONAN" "TARGETS" ${ARGN})
  if(bahdanau_missing_dependency)
    return()
  endif()

  if(NOT arg_NO_PACKAGE)
    find_package(${name} ${arg_VERSION} CONFIG QUIET)
    foreach(target IN LISTS arg_TARGETS)
      if(TARGET ${target})
        set(bahdanau_dependency_targets ${bahdanau_dependency_targets} ${target} PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endif()

  set(wanted "${name}")
  if(arg_VERSION)
    string(APPEND wanted " ${arg_VERSION} or later")
  endif()
  set(missing "bahdanau needs ${wanted}: install the Debian package ${arg_DEBIAN} or the Conan package ${arg_CONAN}.")
  if(${name}_CONSIDERED_CONFIGS AND NOT ${name}_FOUND)  # there, but too old
    set(bahdanau_missing_dependency "${missing}" PARENT_SCOPE)
    return()
  endif()

  if(PKG_CONFIG_FOUND AND arg_PKG_CONFIG)
    pkg_check_modules(bahdanau_pc_${name} QUIET ${arg_PKG_CONFIG})
  endif()
  # Some packages set variables only (Debian's OpenBLAS).
  set(library_dirs ${bahdanau_pc_${name}_LIBRARY_DIRS})
  foreach(library IN LISTS ${name}_LIBRARIES)
    get_filename_component(directory "${library}" DIRECTORY)
    list(APPEND library_dirs "${directory}")
  endforeach()

  set(files bahdanau_${name}_INCLUDE_DIR)
  find_path(bahdanau_${name}_INCLUDE_DIR ${arg_HEADER} PATH_SUFFIXES openblas
            HINTS ${${name}_INCLUDE_DIRS} ${bahdanau_pc_${name}_INCLUDE_DIRS})
  if(arg_LIBRARY)
    list(APPEND files bahdanau_${name}_LIBRARY)
    find_library(bahdanau_${name}_LIBRARY ${arg_LIBRARY} HINTS ${library_dirs})
  endif()
  mark_as_advanced(${files})
  foreach(file IN LISTS files)
    if(NOT ${file})
      set(bahdanau_missing_dependency "${missing}" PARENT_SCOPE)
      return()
    endif()
  endforeach()

  set(target bahdanau::dependency-${name})
  add_library(${target} INTERFACE IMPORTED)
  target_include_directories(${target} INTERFACE "${bahdanau_${name}_INCLUDE_DIR}")
  if(arg_LIBRARY)
    target_link_libraries(${target} INTERFACE "${bahdanau_${name}_LIBRARY}")
  endif()
  set(bahdanau_dependency_targets ${bahdanau_dependency_targets} ${target} PARENT_SCOPE)
endfunction()

bahdanau_find(xtl TARGETS xtl xtl::xtl HEADER xtl/xtl_config.hpp
              DEBIAN xtl-dev CONAN xtl)
bahdanau_find(xtensor VERSION 0.24 TARGETS xtensor xtensor::xtensor HEADER xtensor/xtensor_config.hpp
              DEBIAN libxtensor-dev CONAN xtensor)
# Only its headers: its CMake package insists on whatever BLAS and LAPACK come first, and would link them before OpenBLAS.
bahdanau_find(xtensor-blas NO_PACKAGE HEADER xflens/cxxblas/cxxblas.cxx
              DEBIAN libxtensor-blas-dev CONAN xtensor-blas)
bahdanau_find(OpenBLAS TARGETS OpenBLAS::OpenBLAS HEADER openblas_config.h LIBRARY openblas PKG_CONFIG openblas
              DEBIAN libopenblas-dev CONAN openblas)
bahdanau_find(utf8proc TARGETS utf8proc::utf8proc utf8proc HEADER utf8proc.h LIBRARY utf8proc PKG_CONFIG libutf8proc
              DEBIAN libutf8proc-dev CONAN utf8proc)

if(NOT TARGET Threads::Threads)
  set(bahdanau_missing_dependency "bahdanau needs POSIX threads: install the Debian package libc6-dev.")
endif()
if(NOT bahdanau_missing_dependency)
  add_library(bahdanau::dependencies INTERFACE IMPORTED)
  target_link_libraries(bahdanau::dependencies INTERFACE ${bahdanau_dependency_targets})
endif()
unset(bahdanau_dependency_targets)

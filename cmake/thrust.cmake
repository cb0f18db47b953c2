# Gives bahdanau::thrust, for our own build and for the installed package (component `thrust`) alike: the headers of
# Thrust, and how the device system is chosen. Files compiled by nvcc run on CUDA; C++ files on BAHDANAU_THRUST_SYSTEM.
# When something is missing, bahdanau_missing_thrust is a sentence that says what, and there is no target.

set(BAHDANAU_THRUST_SYSTEM "OMP" CACHE STRING "Where bahdanau::thrust runs in C++ files: OMP, TBB or CPP")
set_property(CACHE BAHDANAU_THRUST_SYSTEM PROPERTY STRINGS OMP TBB CPP)

set(bahdanau_missing_thrust "")
find_package(CUDAToolkit QUIET)
# The toolkit's headers before the system's; a path can be set by hand.
find_path(BAHDANAU_THRUST_INCLUDE_DIR thrust/version.h
          HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include PATH_SUFFIXES cccl)
mark_as_advanced(BAHDANAU_THRUST_INCLUDE_DIR)

# bahdanau_thrust_target(name system): a target with all that one device system needs, or a sentence in
# bahdanau_missing_thrust. Not an imported one: a project that has bahdanau as a folder must see it.
function(bahdanau_thrust_target name system)
  set(bahdanau_missing_thrust "" PARENT_SCOPE)
  if(TARGET ${name})
    return()
  endif()
  if(NOT BAHDANAU_THRUST_INCLUDE_DIR)
    set(bahdanau_missing_thrust "bahdanau::thrust needs Thrust: install the CUDA toolkit, the Debian package \
libthrust-dev or the Conan package thrust." PARENT_SCOPE)
    return()
  endif()
  set(libraries "")
  set(sources "")  # what to install for each of them
  if(system STREQUAL "OMP")
    find_package(OpenMP QUIET COMPONENTS CXX)
    list(APPEND libraries OpenMP::OpenMP_CXX)
    list(APPEND sources "OpenMP for your compiler (g++ brings it, clang++ wants the Debian package libomp-dev)")
  elseif(system STREQUAL "TBB")
    find_package(TBB CONFIG QUIET)
    list(APPEND libraries TBB::tbb)
    list(APPEND sources "the Debian package libtbb-dev or the Conan package onetbb")
  elseif(NOT system STREQUAL "CPP")
    set(bahdanau_missing_thrust "BAHDANAU_THRUST_SYSTEM is OMP, TBB or CPP, not '${system}'." PARENT_SCOPE)
    return()
  endif()
  if(CMAKE_CUDA_COMPILER)
    list(APPEND libraries CUDA::cublas)  # the runtime comes with the language
    list(APPEND sources "the CUDA toolkit with cuBLAS")
  endif()
  foreach(library source IN ZIP_LISTS libraries sources)
    if(NOT TARGET ${library})
      set(bahdanau_missing_thrust "bahdanau::thrust on ${system} needs ${library}: install ${source}." PARENT_SCOPE)
      return()
    endif()
  endforeach()
  string(REPLACE "::" "_" target "${name}")
  add_library(${target} INTERFACE)
  add_library(${name} ALIAS ${target})
  target_include_directories(${target} SYSTEM INTERFACE "${BAHDANAU_THRUST_INCLUDE_DIR}")
  target_link_libraries(${target} INTERFACE bahdanau::bahdanau ${libraries})
  target_compile_definitions(${target} INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_${system}>)
  # Kernels use what the standard library declares constexpr. Not the feature cuda_std_20: CMake 3.25 does not know that
  # nvcc has it, and the same option twice does no harm.
  target_compile_options(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-std=c++20>")
endfunction()

bahdanau_thrust_target(bahdanau::thrust "${BAHDANAU_THRUST_SYSTEM}")

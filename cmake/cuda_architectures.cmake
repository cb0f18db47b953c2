# Where nobody says otherwise: real code for one architecture of each generation that the toolkit has, and PTX for the
# newest, from which a driver makes code for later ones.

if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-arch OUTPUT_VARIABLE known)
  set(architectures "")
  set(newest "")
  foreach(architecture IN ITEMS 75 80 90 120)
    if(known MATCHES "compute_${architecture}[^0-9]")
      list(APPEND architectures ${architecture}-real)
      set(newest ${architecture}-virtual)
    endif()
  endforeach()
  set(CMAKE_CUDA_ARCHITECTURES ${architectures} ${newest} CACHE STRING "What nvcc compiles for" FORCE)
endif()

# find_package(bahdanau) gives the target bahdanau::bahdanau; with COMPONENTS thrust, bahdanau::thrust too, with
# sentencepiece, bahdanau::sentencepiece, and with mpi, bahdanau::mpi.

include("${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake")
if(bahdanau_missing_dependency)
  set(bahdanau_FOUND FALSE)
  set(bahdanau_NOT_FOUND_MESSAGE "${bahdanau_missing_dependency}")
  return()
endif()

set(bahdanau_components mpi sentencepiece thrust)
foreach(bahdanau_component IN LISTS bahdanau_FIND_COMPONENTS)
  if(bahdanau_FIND_REQUIRED_${bahdanau_component} AND NOT bahdanau_component IN_LIST bahdanau_components)
    set(bahdanau_FOUND FALSE)
    set(bahdanau_NOT_FOUND_MESSAGE
      "bahdanau has the components 'mpi', 'sentencepiece' and 'thrust', not '${bahdanau_component}'.")
    return()
  endif()
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/bahdanauTargets.cmake")

foreach(bahdanau_component IN LISTS bahdanau_components)
  if(NOT bahdanau_component IN_LIST bahdanau_FIND_COMPONENTS)
    continue()
  endif()
  include("${CMAKE_CURRENT_LIST_DIR}/${bahdanau_component}.cmake")
  set(bahdanau_${bahdanau_component}_FOUND TRUE)
  if(bahdanau_missing_${bahdanau_component})
    set(bahdanau_${bahdanau_component}_FOUND FALSE)
    if(bahdanau_FIND_REQUIRED_${bahdanau_component})
      set(bahdanau_FOUND FALSE)
      set(bahdanau_NOT_FOUND_MESSAGE "${bahdanau_missing_${bahdanau_component}}")
    endif()
  endif()
endforeach()

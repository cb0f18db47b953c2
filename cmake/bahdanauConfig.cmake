# find_package(bahdanau) gives the target bahdanau::bahdanau.

include("${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake")
if(bahdanau_missing_dependency)
  set(bahdanau_FOUND FALSE)
  set(bahdanau_NOT_FOUND_MESSAGE "${bahdanau_missing_dependency}")
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/bahdanauTargets.cmake")

# find_package(bahdanau) gives the target bahdanau::bahdanau; with COMPONENTS thrust, bahdanau::thrust too.

include("${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake")
if(bahdanau_missing_dependency)
  set(bahdanau_FOUND FALSE)
  set(bahdanau_NOT_FOUND_MESSAGE "${bahdanau_missing_dependency}")
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/bahdanauTargets.cmake")

if("thrust" IN_LIST bahdanau_FIND_COMPONENTS)
  include("${CMAKE_CURRENT_LIST_DIR}/thrust.cmake")
  set(bahdanau_thrust_FOUND TRUE)
  if(bahdanau_missing_thrust)
    set(bahdanau_thrust_FOUND FALSE)
    if(bahdanau_FIND_REQUIRED_thrust)
      set(bahdanau_FOUND FALSE)
      set(bahdanau_NOT_FOUND_MESSAGE "${bahdanau_missing_thrust}")
    endif()
  endif()
endif()

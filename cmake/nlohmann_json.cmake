# Gives nlohmann_json::nlohmann_json, which the command-line tool and the tests use. The library itself does without.

find_package(nlohmann_json CONFIG QUIET)
if(NOT TARGET nlohmann_json::nlohmann_json)
  find_path(BAHDANAU_NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp)
  mark_as_advanced(BAHDANAU_NLOHMANN_JSON_INCLUDE_DIR)
  if(NOT BAHDANAU_NLOHMANN_JSON_INCLUDE_DIR)
    message(FATAL_ERROR "The command-line tool and the tests need nlohmann_json: "
                        "install the Debian package nlohmann-json3-dev or the Conan package nlohmann_json.")
  endif()
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE "${BAHDANAU_NLOHMANN_JSON_INCLUDE_DIR}")
endif()

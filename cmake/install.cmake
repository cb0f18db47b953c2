# Headers, the exported target and the package files. All of it is text, so it goes under share/.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/bahdanau")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/bahdanauConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

target_include_directories(bahdanau INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
install(TARGETS bahdanau EXPORT bahdanauTargets)
install(EXPORT bahdanauTargets NAMESPACE bahdanau:: DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/bahdanau" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/cmake/bahdanauConfig.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/mpi.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/sentencepiece.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/thrust.cmake"
              "${PROJECT_BINARY_DIR}/bahdanauConfigVersion.cmake"
        DESTINATION "${package_dir}")

# pkg-config's file finds the headers from where it lies itself, so the prefix may move.
set(pkgconfig_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
file(RELATIVE_PATH bahdanau_pc_prefix "/prefix/${pkgconfig_dir}" "/prefix")
string(REGEX REPLACE "/$" "" bahdanau_pc_prefix "${bahdanau_pc_prefix}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/bahdanau.pc.in" "${PROJECT_BINARY_DIR}/bahdanau.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/bahdanau.pc" DESTINATION "${pkgconfig_dir}")

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Installs the library, the headers that annulus/annulus.h needs, the program and the CMake package (find_package(annulus)).
include(CMakePackageConfigHelpers)

install(TARGETS annulus EXPORT annulus_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(header IN LISTS ANNULUS_PUBLIC_HEADERS)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
# The links of README.md lead to the documents beside it.
install(FILES CHANGELOG.md CITATION.cff LICENSE README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN *.png)
install(DIRECTORY share/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/annulus)
install(EXPORT annulus_targets NAMESPACE annulus:: FILE annulus-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/annulus)
configure_package_config_file(cmake/annulus-config.cmake.in ${CMAKE_BINARY_DIR}/annulus-config.cmake
        INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/annulus)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/annulus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/annulus-config.cmake ${CMAKE_BINARY_DIR}/annulus-config-version.cmake
        cmake/find_dnnl.cmake cmake/find_svm.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/annulus)
# The program runs the fetch script itself (annulus/pipeline/download/download.cpp): installed with it, and beside it in the build folder.
install(PROGRAMS scripts/fetch DESTINATION ${CMAKE_INSTALL_DATADIR}/annulus)
install(FILES scripts/tarballs.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/annulus)
configure_file(scripts/fetch ${CMAKE_BINARY_DIR}/share/annulus/fetch COPYONLY)
configure_file(scripts/tarballs.txt ${CMAKE_BINARY_DIR}/share/annulus/tarballs.txt COPYONLY)
# The unit names the program by its whole path, which is known when it is installed (cmake --install --prefix).
install(CODE "
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
  set(CMAKE_INSTALL_FULL_BINDIR \"\${prefix}/${CMAKE_INSTALL_BINDIR}\")
  configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/share/systemd/annulus.service.in\"
                 \"\$ENV{DESTDIR}\${prefix}/${CMAKE_INSTALL_DATADIR}/annulus/systemd/annulus.service\" @ONLY)")

# Manual pages and completion, which the program itself describes (annulus option-table, annulus completion).
find_program(ANNULUS_MANUAL_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(ANNULUS_MANUAL_PYTHON NAMES python3)
mark_as_advanced(ANNULUS_MANUAL_PYTHON)
if(ANNULUS_BUILD_CLI AND ANNULUS_MANUAL_PYTHON)
  install(CODE "
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
  set(prefix \"\$ENV{DESTDIR}\${prefix}\")
  message(STATUS \"Installing: \${prefix}/${CMAKE_INSTALL_MANDIR}/man1\")
  execute_process(COMMAND \"${ANNULUS_MANUAL_PYTHON}\" -B \"${CMAKE_CURRENT_SOURCE_DIR}/scripts/build-manual\" \"${CMAKE_BINARY_DIR}/annulus\"
                          \"\${prefix}/${CMAKE_INSTALL_MANDIR}/man1\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell_file bash:bash-completion/completions/annulus zsh:zsh/site-functions/_annulus fish:fish/vendor_completions.d/annulus.fish)
    string(REPLACE \":\" \";\" pair \${shell_file})
    list(GET pair 0 shell)
    list(GET pair 1 file)
    execute_process(COMMAND \"${CMAKE_BINARY_DIR}/annulus\" completion \${shell} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE \"\${prefix}/${CMAKE_INSTALL_DATADIR}/\${file}\" \"\${text}\")
  endforeach()")
endif()
include(cmake/package.cmake)

# Tests that are scripts: the checks of scripts/ on this tree, the tests of those checks, the installed package, the examples of the documents.
# They look at sources or at the optimised program, so a sanitizer build has nothing to add.
if(ANNULUS_SANITIZE)
  return()
endif()
# Debian's interpreter is preferred to one that happens to be first on the PATH, as python/CMakeLists.txt does.
if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(annulus_script_test name)
  add_test(NAME scripts.${name} COMMAND ${ARGN})
  set_tests_properties(scripts.${name} PROPERTIES LABELS scripts TIMEOUT 900)
endfunction()

foreach(check includes files docs tests skips wheel)
  annulus_script_test(check_${check}_reports_faults
    ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/check_${check}_test.py)
endforeach()
annulus_script_test(includes ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/check-includes ${CMAKE_SOURCE_DIR})
annulus_script_test(files ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/check-files ${CMAKE_SOURCE_DIR})
annulus_script_test(tests ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/check-tests ${CMAKE_SOURCE_DIR})
annulus_script_test(links ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/check-docs links ${CMAKE_SOURCE_DIR})
foreach(bench compare accuracy)
  annulus_script_test(bench_${bench} ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/bench_${bench}_test.py)
endforeach()
annulus_script_test(package ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/package_test.py)
annulus_script_test(build_cli_reference ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/build_cli_reference_test.py)
annulus_script_test(fetch bash ${CMAKE_CURRENT_SOURCE_DIR}/scripts/fetch_test.sh ${CMAKE_SOURCE_DIR}/scripts/fetch)

# The C++ reference, in which every name of the facade must be documented; skipped where there is no Doxygen
# (scripts/packages-checks.txt has it).
annulus_script_test(reference ${CMAKE_SOURCE_DIR}/scripts/build-reference ${CMAKE_BINARY_DIR}/reference)
set_tests_properties(scripts.reference PROPERTIES SKIP_RETURN_CODE 77)

if(NOT ANNULUS_BUILD_CLI)
  return()
endif()

annulus_script_test(doc_names
  ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/check-docs names ${CMAKE_BINARY_DIR}/annulus ${CMAKE_SOURCE_DIR})

# The package as its users see it: installed to an empty prefix, then found, linked and run by a project of its own.
set(prefix ${CMAKE_BINARY_DIR}/installed)
list(JOIN ANNULUS_PUBLIC_HEADERS "," public_headers)
annulus_script_test(install ${CMAKE_COMMAND}
  -DBUILD=${CMAKE_BINARY_DIR} -DPREFIX=${prefix} -DHEADERS=${public_headers} -DCOMPILER=${CMAKE_CXX_COMPILER}
  -P ${CMAKE_CURRENT_SOURCE_DIR}/install/install.cmake)
set_tests_properties(scripts.install PROPERTIES FIXTURES_SETUP installed)
annulus_script_test(find_package ${CMAKE_CTEST_COMMAND}
  --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/install/consumer ${CMAKE_BINARY_DIR}/consumer
  --build-generator ${CMAKE_GENERATOR}
  --build-options -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
  --test-command consumer ${PROJECT_VERSION} ${CMAKE_BINARY_DIR}/consumer)
annulus_script_test(installed_program ${prefix}/${CMAKE_INSTALL_BINDIR}/annulus --version)
set_tests_properties(scripts.installed_program PROPERTIES PASS_REGULAR_EXPRESSION "annulus ${PROJECT_VERSION}")
# The installed program in an empty home, on photos, without the repository (python/tests.cmake has the same of the Python package).
# Skipped where nothing can be downloaded and nothing was before.
annulus_script_test(installed ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/installed_test.py
  ${prefix} ${CMAKE_SOURCE_DIR})
set_tests_properties(scripts.find_package scripts.installed_program scripts.installed PROPERTIES FIXTURES_REQUIRED installed)
set_tests_properties(scripts.installed PROPERTIES SKIP_RETURN_CODE 77)

# The reference of the command line is what the program itself says; the message names the command that mends it.
annulus_script_test(cli_reference
  ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/build-cli-reference ${CMAKE_BINARY_DIR}/annulus --check)

# The manual pages of the program, and how they are made.
annulus_script_test(build_manual
  ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/build_manual_test.py ${CMAKE_BINARY_DIR}/annulus)

# Files larger than the memory of the process.
annulus_script_test(memory_limit
  ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/memory_limit_test.py ${CMAKE_BINARY_DIR}/annulus)
# Calls to the system that fail, one at a time.
annulus_script_test(fault_sweep ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/fault_sweep_test.py
  ${CMAKE_BINARY_DIR}/annulus ${CMAKE_CURRENT_SOURCE_DIR}/faults/fault_shim.c)
# Networks by name from a mirror on this machine that also misbehaves; skipped where ONNX Runtime is not to be had.
annulus_script_test(backbones ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/backbones_test.py
  ${CMAKE_BINARY_DIR}/annulus ${CMAKE_CURRENT_SOURCE_DIR}/data ${CMAKE_BINARY_DIR}/python)
set_tests_properties(scripts.backbones PROPERTIES SKIP_RETURN_CODE 77)
# Batch scripts under a Slurm of their own; skipped where none is installed (scripts/packages-checks.txt has one).
annulus_script_test(slurm ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/slurm_test.py
  ${CMAKE_BINARY_DIR}/annulus ${CMAKE_SOURCE_DIR}/share/slurm ${CMAKE_CURRENT_SOURCE_DIR}/data)
set_tests_properties(scripts.slurm PROPERTIES SKIP_RETURN_CODE 77)
# A fit on two hosts that a virtual cable connects; skipped where network namespaces cannot be made.
annulus_script_test(hosts ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/hosts_test.py ${CMAKE_BINARY_DIR}/annulus)
set_tests_properties(scripts.hosts PROPERTIES SKIP_RETURN_CODE 77)

# A report as a browser shows it; skipped where no Chromium is installed (scripts/packages-checks.txt has one).
annulus_script_test(report_page
  ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/report_page_test.py ${CMAKE_BINARY_DIR}/annulus)
set_tests_properties(scripts.report_page PROPERTIES SKIP_RETURN_CODE 77)

# The studio in a browser; skipped where there is no Chromium, no page in the program, or no way to get the test's own packages.
add_test(NAME studio.browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/studio/run ${CMAKE_BINARY_DIR}/annulus)
set_tests_properties(studio.browser PROPERTIES LABELS studio TIMEOUT 900 RUN_SERIAL TRUE SKIP_RETURN_CODE 77)

# An exported page in a browser, beside annulus predict; skipped where there is no node, no Chromium, or no way to get what it needs.
add_test(NAME web.browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/web/run ${CMAKE_BINARY_DIR}/annulus)
set_tests_properties(web.browser PROPERTIES LABELS web TIMEOUT 900 RUN_SERIAL TRUE SKIP_RETURN_CODE 77)

# Every document's examples; scripts/check-docs says how they are written.
file(GLOB documents CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/*.md ${CMAKE_SOURCE_DIR}/docs/*/*.md)
foreach(document IN LISTS documents)
  get_filename_component(name ${document} NAME_WE)
  annulus_script_test(examples.${name}
    ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/check-docs run ${document} ${CMAKE_BINARY_DIR} ${prefix})
  set_tests_properties(scripts.examples.${name} PROPERTIES FIXTURES_REQUIRED installed)
endforeach()

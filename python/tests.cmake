# One ctest entry for each file of python/tests, and one for the examples in docstrings; run against the module of this build.
execute_process(COMMAND ${Python3_EXECUTABLE} -s -c "import numpy, sklearn, pytest" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message(STATUS "The Python package is built but not tested: ${Python3_EXECUTABLE} lacks numpy, scikit-learn or pytest")
  return()
endif()

set(python_environment
  PYTHONPATH=${CMAKE_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1
  PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTEST_ADDOPTS= MPLBACKEND=Agg ANNULUS_PROGRAM=${CMAKE_BINARY_DIR}/annulus)
if(ANNULUS_SANITIZE MATCHES "address")
  # The interpreter itself is not instrumented: the sanitizer has to be there first, and what the interpreter never frees is not ours.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so OUTPUT_VARIABLE libstdcxx OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND python_environment "LD_PRELOAD=${asan} ${libstdcxx}" ASAN_OPTIONS=detect_leaks=0 ANNULUS_SANITIZED=1)
endif()

function(annulus_python_test name)
  add_test(NAME python.${name} COMMAND ${Python3_EXECUTABLE} -m pytest -q -p no:cacheprovider ${ARGN} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/tests)
  set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT 600 ENVIRONMENT "${python_environment}")
endfunction()

file(GLOB python_tests CONFIGURE_DEPENDS tests/test_*.py)
foreach(file IN LISTS python_tests)
  get_filename_component(name ${file} NAME_WE)
  string(REPLACE "test_" "" name ${name})
  annulus_python_test(${name} ${file})
endforeach()
annulus_python_test(doctests --doctest-modules ${CMAKE_BINARY_DIR}/python/annulus)

# As the guide installs it and as a wheel, in an empty home and without the repository. A module under a sanitizer cannot be loaded there.
if(NOT ANNULUS_SANITIZE)
  add_test(NAME python.installed COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/scripts/python_package_test.py
           ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(python.installed PROPERTIES LABELS python TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()

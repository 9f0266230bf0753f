# Installs the build at BUILD to an emptied PREFIX. Fails when a part of the package is missing there, when the installed headers are not
# exactly HEADERS (annulus.h and what it includes, with commas between), or when one of them does not compile by itself with COMPILER.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE installed RELATIVE ${PREFIX} ${PREFIX}/*)
foreach(part bin/annulus libannulus.a include/annulus/annulus.h annulus-config.cmake LICENSE docs/tutorial/first-model.md
             man/man1/annulus-fit.1 bash-completion/completions/annulus)
  if(NOT installed MATCHES "(^|/|;)${part}(;|$)")
    message(FATAL_ERROR "${part} was not installed to ${PREFIX}; found: ${installed}")
  endif()
endforeach()

file(GLOB_RECURSE headers RELATIVE ${PREFIX}/include ${PREFIX}/include/*)
list(SORT headers)
list(JOIN headers "," found)
if(NOT found STREQUAL HEADERS)
  message(FATAL_ERROR "expected the headers ${HEADERS}, found ${found} installed")
endif()
foreach(header IN LISTS headers)
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -x c++ -include ${PREFIX}/include/${header} /dev/null
                          -I${PREFIX}/include
                  WORKING_DIRECTORY ${PREFIX} RESULT_VARIABLE code ERROR_VARIABLE complaint)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${header} does not compile by itself:\n${complaint}")
  endif()
endforeach()

# Installs the build at BUILD to an emptied PREFIX; fails when a part of the package is missing there.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE installed RELATIVE ${PREFIX} ${PREFIX}/*)
foreach(part bin/annulus libannulus.a annulus/base/version.h annulus/learn/model.h annulus-config.cmake LICENSE)
  if(NOT installed MATCHES "(^|/|;)${part}(;|$)")
    message(FATAL_ERROR "${part} was not installed to ${PREFIX}; found: ${installed}")
  endif()
endforeach()

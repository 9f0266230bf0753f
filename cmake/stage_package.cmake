# Run by cpack between installation and packing (CPACK_PRE_BUILD_SCRIPTS).
set(kind_DEB deb)
set(kind_TGZ tarball)
execute_process(COMMAND ${CPACK_ANNULUS_SOURCE}/scripts/stage-package ${kind_${CPACK_GENERATOR}} ${CPACK_ANNULUS_BUILD} ${CPACK_TEMPORARY_DIRECTORY}
                COMMAND_ERROR_IS_FATAL ANY)

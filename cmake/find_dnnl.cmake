# oneDNN as the target annulus_dnnl. Debian's own package file asks for OpenCL headers that a CPU program never needs.
if(NOT TARGET annulus_dnnl)
  find_path(ANNULUS_DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h REQUIRED)
  find_library(ANNULUS_DNNL_LIBRARY dnnl REQUIRED)
  mark_as_advanced(ANNULUS_DNNL_INCLUDE_DIR ANNULUS_DNNL_LIBRARY)
  add_library(annulus_dnnl UNKNOWN IMPORTED)
  set_target_properties(annulus_dnnl PROPERTIES IMPORTED_LOCATION "${ANNULUS_DNNL_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${ANNULUS_DNNL_INCLUDE_DIR}")
endif()

# LIBLINEAR and LIBSVM as the targets annulus_liblinear and annulus_libsvm; neither brings a package file of its own.
if(NOT TARGET annulus_liblinear)
  find_path(ANNULUS_LIBLINEAR_INCLUDE_DIR linear.h PATH_SUFFIXES liblinear REQUIRED)
  find_library(ANNULUS_LIBLINEAR_LIBRARY linear REQUIRED)
  find_path(ANNULUS_LIBSVM_INCLUDE_DIR libsvm/svm.h REQUIRED)
  find_library(ANNULUS_LIBSVM_LIBRARY svm REQUIRED)
  foreach(annulus_name LIBLINEAR LIBSVM)
    string(TOLOWER annulus_${annulus_name} annulus_target)
    mark_as_advanced(ANNULUS_${annulus_name}_INCLUDE_DIR ANNULUS_${annulus_name}_LIBRARY)
    add_library(${annulus_target} UNKNOWN IMPORTED)
    set_target_properties(${annulus_target} PROPERTIES IMPORTED_LOCATION "${ANNULUS_${annulus_name}_LIBRARY}"
                          INTERFACE_INCLUDE_DIRECTORIES "${ANNULUS_${annulus_name}_INCLUDE_DIR}")
  endforeach()
endif()

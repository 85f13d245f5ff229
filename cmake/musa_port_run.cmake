# cmake -Dwork=DIR -P musa_port_run.cmake: what musa_port_sources() does at build time.
#
# DIR/settings.cmake says what to port. The files are copied to DIR/src first: the build tree may lie inside the source
# tree, and musa-port takes one tree and writes another one outside of it.
cmake_minimum_required(VERSION 3.20)
include("${work}/settings.cmake")

set(copies "${work}/src")
foreach(file IN LISTS files)
  configure_file("${root}/${file}" "${copies}/${file}" COPYONLY)
endforeach()
file(GLOB_RECURSE surplus RELATIVE "${copies}" "${copies}/*")
list(REMOVE_ITEM surplus ${files})
foreach(file IN LISTS surplus)
  file(REMOVE "${copies}/${file}")
endforeach()

execute_process(
  COMMAND "${program}" "${copies}" -o "${output}" --state "${work}/state" --force --report "${work}/report.html" ${options}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE messages
  ERROR_VARIABLE messages)
if(status STREQUAL "1" AND NOT strict)
  message("${messages}\n${target}: musa-port left something to do by hand, see ${work}/report.html")
elseif(status STREQUAL "1")
  message(FATAL_ERROR "${messages}\n${target}: musa-port left something to do by hand, see ${work}/report.html")
elseif(NOT status STREQUAL "0")
  message(FATAL_ERROR "${messages}\n${target}: musa-port failed (${status})")
endif()

# What an earlier run made of files that are gone.
if(EXISTS "${work}/ported_files")
  file(STRINGS "${work}/ported_files" surplus)
  list(REMOVE_ITEM surplus ${ported_files})
  foreach(file IN LISTS surplus)
    file(REMOVE "${file}")
  endforeach()
endif()
list(JOIN ported_files "\n" lines)
file(WRITE "${work}/ported_files" "${lines}\n")
file(TOUCH "${work}/stamp")

# musa_port_sources(<target> <source>...
#                   [ROOT <dir>] [OUTPUT_DIR <dir>] [LANGUAGE <language>] [STRICT]
#                   [EXTRA_FILES <file>...] [OPTIONS <musa-port option>...] [SOURCES <source>...])
#
# Ports CUDA sources to MUSA at build time, into the build tree, and adds the result to <target>. musa-port runs when a
# source, a header, an option or musa-port itself changed, and then ports only the files that did.
#
#   ROOT         the tree that the sources lie in; all headers below it are ported along, so that includes between them
#                work. Default: the current source directory
#   OUTPUT_DIR   where the ported tree goes. Default: musa_port/<target> in the current binary directory
#   LANGUAGE     how .mu (or, with --keep-ext, .cu) files are compiled: MUSA (as C++ with `-x musa`, for mcc), or a CMake
#                language. Default: CUDA where the project enabled it, else MUSA
#   STRICT       fail the build when musa-port leaves something to do by hand; without it the build says so and goes on
#   EXTRA_FILES  files that sources include although their names are not those of headers
#   OPTIONS      options for musa-port, such as `--arch mp_31` or `--map names.json`
#
# Include directories of the target that lie below ROOT get their counterparts in OUTPUT_DIR, in front.

include_guard(GLOBAL)

function(musa_port_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STRICT" "ROOT;OUTPUT_DIR;LANGUAGE" "SOURCES;EXTRA_FILES;OPTIONS")
  list(APPEND arg_SOURCES ${arg_UNPARSED_ARGUMENTS})
  _musa_compat_check_call("${target}" "${arg_SOURCES}" "${arg_OPTIONS}")
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  # The hint is where pip puts programs, seen from this file in the Python package.
  find_program(MUSA_PORT_EXECUTABLE musa-port HINTS "${here}/../../../../../../../bin" DOC "The porter of musa-compat")
  if(NOT MUSA_PORT_EXECUTABLE)
    message(FATAL_ERROR "musa_port_sources: musa-port was not found; `pip install musa-compat`, or set MUSA_PORT_EXECUTABLE")
  endif()

  set(root "${CMAKE_CURRENT_SOURCE_DIR}")
  if(arg_ROOT)
    get_filename_component(root "${arg_ROOT}" ABSOLUTE)
  endif()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/musa_port/${target}")
  if(arg_OUTPUT_DIR)
    get_filename_component(output "${arg_OUTPUT_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  set(work "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/musa_port/${target}")

  _musa_compat_relative("${root}" sources ${arg_SOURCES})
  _musa_compat_relative("${root}" extra ${arg_EXTRA_FILES})
  _musa_compat_headers("${root}" headers)
  set(files ${sources} ${extra} ${headers})
  list(REMOVE_DUPLICATES files)

  _musa_compat_ported("${arg_OPTIONS}" ported_files ${files})
  _musa_compat_ported("${arg_OPTIONS}" ported_sources ${sources})
  list(TRANSFORM ported_files PREPEND "${output}/")
  list(TRANSFORM ported_sources PREPEND "${output}/")
  set(inputs ${files})
  list(TRANSFORM inputs PREPEND "${root}/")

  # Generated only when it differs, so that changed options count as a changed input.
  file(GENERATE OUTPUT "${work}/settings.cmake" CONTENT "set(target [==[${target}]==])
set(program [==[${MUSA_PORT_EXECUTABLE}]==])
set(options [==[${arg_OPTIONS}]==])
set(strict [==[${arg_STRICT}]==])
set(root [==[${root}]==])
set(output [==[${output}]==])
set(files [==[${files}]==])
set(ported_files [==[${ported_files}]==])
")
  add_custom_command(
    OUTPUT "${work}/stamp" ${ported_files}
    COMMAND "${CMAKE_COMMAND}" "-Dwork=${work}" -P "${here}/musa_port_run.cmake"
    DEPENDS "${work}/settings.cmake" "${here}/musa_port_run.cmake" "${MUSA_PORT_EXECUTABLE}" ${inputs}
    COMMENT "Porting the CUDA sources of ${target} to MUSA"
    VERBATIM)

  _musa_compat_set_language("${arg_LANGUAGE}" ${ported_sources})
  target_sources(${target} PRIVATE ${ported_sources})
  # Once the directory has been read: its include directories are known then.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _musa_compat_mirror_includes [==[${target}]==] [==[${root}]==] [==[${output}]==])")
endfunction()

function(_musa_compat_check_call target sources options)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "musa_port_sources: ${target} is not a target; call add_library or add_executable first")
  endif()
  get_target_property(directory "${target}" SOURCE_DIR)
  if(NOT directory STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "musa_port_sources: ${target} belongs to ${directory}; call it in the CMakeLists.txt there")
  endif()
  get_target_property(called "${target}" _MUSA_PORT_SOURCES)
  if(called)
    message(FATAL_ERROR "musa_port_sources: called twice for ${target}; give all sources in one call")
  endif()
  set_target_properties("${target}" PROPERTIES _MUSA_PORT_SOURCES TRUE)
  if(NOT sources)
    message(FATAL_ERROR "musa_port_sources: no sources for ${target}; they come after the target or after SOURCES")
  endif()
  set(ours -o --output --in-place --diff --check --list-names --state)
  foreach(option IN LISTS options)
    string(REGEX REPLACE "=.*" "" name "${option}")
    if(name IN_LIST ours)
      message(FATAL_ERROR "musa_port_sources: option ${name} is set by musa_port_sources itself; leave it out")
    endif()
  endforeach()
endfunction()

# Paths relative to `root`, which must hold them.
function(_musa_compat_relative root result)
  set(paths)
  foreach(file IN LISTS ARGN)
    get_filename_component(absolute "${file}" ABSOLUTE)
    file(RELATIVE_PATH path "${root}" "${absolute}")
    if(path MATCHES "^\\.\\./" OR IS_ABSOLUTE "${path}")
      message(FATAL_ERROR "musa_port_sources: ${file} is not below ROOT ${root}; pass ROOT <a folder that holds all sources>")
    endif()
    list(APPEND paths "${path}")
  endforeach()
  set(${result} ${paths} PARENT_SCOPE)
endfunction()

# The headers below `root`, without hidden folders and build trees. New ones are noticed by the next build.
function(_musa_compat_headers root result)
  set(found)
  set(folders "${root}")
  while(folders)
    list(POP_FRONT folders folder)
    set(patterns .h .hh .hpp .hxx .h++ .cuh .muh .inl .inc .ipp .tpp .tcc .cuinc .impl)
    list(TRANSFORM patterns PREPEND "${folder}/*")
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${root}" LIST_DIRECTORIES false ${patterns})
    list(APPEND found ${headers})
    file(GLOB entries LIST_DIRECTORIES true "${folder}/*")
    foreach(entry IN LISTS entries)
      get_filename_component(name "${entry}" NAME)
      if(IS_DIRECTORY "${entry}" AND NOT IS_SYMLINK "${entry}" AND NOT name MATCHES "^\\."
         AND NOT entry STREQUAL CMAKE_BINARY_DIR AND NOT EXISTS "${entry}/CMakeCache.txt")
        list(APPEND folders "${entry}")
      endif()
    endforeach()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# The names that musa-port gives.
function(_musa_compat_ported options result)
  set(paths ${ARGN})
  if(NOT "--keep-ext" IN_LIST options)
    list(TRANSFORM paths REPLACE "\\.cu$" ".mu")
    list(TRANSFORM paths REPLACE "\\.cuh$" ".muh")
  endif()
  set(${result} ${paths} PARENT_SCOPE)
endfunction()

function(_musa_compat_set_language language)
  get_property(enabled GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT language)
    set(language MUSA)
    if("CUDA" IN_LIST enabled)
      set(language CUDA)
    endif()
  endif()
  set(devices ${ARGN})
  list(FILTER devices INCLUDE REGEX "\\.[cm]u$")
  if(NOT devices)
    return()
  endif()
  if(NOT language STREQUAL "MUSA")
    set_source_files_properties(${devices} PROPERTIES LANGUAGE ${language})
  elseif("CXX" IN_LIST enabled)
    set_source_files_properties(${devices} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;musa")
  else()
    message(FATAL_ERROR "musa_port_sources: MUSA sources are compiled as C++; enable it: project(... LANGUAGES CXX)")
  endif()
endfunction()

function(_musa_compat_mirror_includes target root output)
  get_target_property(directories "${target}" INCLUDE_DIRECTORIES)
  set(mirrored)
  foreach(directory IN LISTS directories)
    string(REGEX REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1" directory "${directory}")
    if(IS_ABSOLUTE "${directory}")
      file(RELATIVE_PATH path "${root}" "${directory}")
      if(NOT path MATCHES "^\\.\\.(/|$)")
        list(APPEND mirrored "${output}/${path}")
      endif()
    endif()
  endforeach()
  if(mirrored)
    target_include_directories("${target}" BEFORE PRIVATE ${mirrored})
  endif()
endfunction()

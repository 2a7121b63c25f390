# stepwright_embed(<output> <function>=<folder>...)
# Writes a C++ file with one function of the room for each folder: all its .yaml, .json and .py files as
# (name, text). The files are data that a person adds one of, so this is the one place that looks into a
# folder. The texts are followed by blanks, because a fast reader of JSON looks beyond their end.
function(stepwright_embed output)
  get_filename_component(room "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  string(CONCAT code "#include \"stepwright/core/embedded.h\"\n\nnamespace stepwright::${room} {\n"
    "using namespace std::string_view_literals;\n")
  string(REPEAT " " 64 blanks)  # kEmbeddedRoom
  foreach(pair ${ARGN})
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 function)
    list(GET pair 1 folder)
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.yaml"
      "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.json"
      "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.py")
    list(SORT files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    string(APPEND code "\nstd::span<const EmbeddedFile> ${function}() {\n")
    if(NOT files)  # C++ has no empty arrays
      string(APPEND code "  return {};\n}\n")
      continue()
    endif()
    string(APPEND code "  static constexpr EmbeddedFile kFiles[] = {\n")
    foreach(path ${files})
      get_filename_component(name "${path}" NAME_WLE)
      file(READ "${path}" text)
      string(APPEND code "      {\"${name}\", embedded(R\"yaml(${text}${blanks})yaml\"sv)},\n")
    endforeach()
    string(APPEND code "  };\n  return kFiles;\n}\n")
  endforeach()
  string(APPEND code "\n}  // namespace stepwright::${room}\n")
  file(GENERATE OUTPUT "${output}" CONTENT "${code}")
endfunction()

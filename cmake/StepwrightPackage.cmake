# `make deb`: the planner's command with its manual page, completions and explorer, as a Debian package.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # the package needs the command, not the tests
set(folder "${PROJECT_BINARY_DIR}/package")
set(files "")
foreach(file
    man:share/man/man1/stepwright.1
    bash:share/bash-completion/completions/stepwright
    fish:share/fish/vendor_completions.d/stepwright.fish)
  string(REGEX MATCH "^[a-z]+" reader "${file}")
  string(REGEX REPLACE "^[a-z]+:" "" path "${file}")
  get_filename_component(place "${path}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}/${place}")
  add_custom_command(OUTPUT "${folder}/${path}"
    COMMAND stepwright completion ${reader} > "${folder}/${path}"
    DEPENDS stepwright VERBATIM)
  list(APPEND files "${folder}/${path}")
endforeach()
add_custom_target(package_files DEPENDS ${files})
install(TARGETS stepwright RUNTIME DESTINATION bin COMPONENT planner)
install(DIRECTORY "${folder}/share" DESTINATION . COMPONENT planner)
# The explorer, where `make engine` has built it; the Python package has it, too.
set(explorer "${PROJECT_SOURCE_DIR}/build/release/explorer.html")
install(FILES "${explorer}" DESTINATION share/stepwright COMPONENT planner OPTIONAL)
install(FILES "${explorer}" DESTINATION stepwright COMPONENT python OPTIONAL)
install(FILES LICENSE DESTINATION share/doc/stepwright RENAME copyright COMPONENT planner)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL planner)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_CONTACT "The Stepwright authors <stepwright@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Plans the training step of large language models on many GPUs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PLANNER_PACKAGE_NAME stepwright)
set(CPACK_DEBIAN_PLANNER_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
include(CPack)

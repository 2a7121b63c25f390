# cmake -DINPUT=page.html -DOUTPUT=embedded_page.cpp -P embed_page.cmake
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "#include \"stepwright/report/page.h\"\n\nnamespace stepwright::report {\n\n\
std::string_view empty_report_page() {\n  using namespace std::string_view_literals;\n\
  return R\"page(${text})page\"sv;\n}\n\n}  // namespace stepwright::report\n")

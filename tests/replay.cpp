// The main function of a fuzz target without libFuzzer: passes each file of a folder to it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc == 2 ? argv[1] : "";
  if (!std::filesystem::is_directory(folder) || std::filesystem::is_empty(folder)) {
    std::cerr << "usage: " << argv[0] << " FOLDER, which must hold the files to read\n";
    return EXIT_FAILURE;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::cout << entry.path().filename().string() << '\n'
              << std::flush;  // seen even if the next call aborts
    std::ifstream file(entry.path(), std::ios::binary);
    if (!file) {
      std::cerr << "cannot be read\n";
      return EXIT_FAILURE;
    }
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return EXIT_SUCCESS;
}

#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace stepwright {

/// A buffer that passes text on to another stream as `plain_text` shows it. A character that comes
/// in several pieces is passed on whole.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::ostream& target) : target_(target) {}
  ~TextBuffer() override;
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  std::ostream& target_;
  std::string begun_;  ///< The first bytes of a character whose last ones have not come.
};

/// The stream on which a command writes text for people, over one that a terminal may show: nothing
/// that the text holds moves a cursor, changes a colour or reorders a line.
class TextStream : public std::ostream {
 public:
  explicit TextStream(std::ostream& target) : std::ostream(nullptr), buffer_(target) {
    rdbuf(&buffer_);
  }

 private:
  TextBuffer buffer_;
};

}  // namespace stepwright

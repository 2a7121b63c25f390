#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace stepwright {

/// A stream buffer that forwards text to another stream, escaped as `plain_text` does. A character
/// whose bytes arrive in several writes is forwarded whole.
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
  std::string begun_;  ///< First bytes of a character whose last bytes have not arrived yet.
};

/// The stream on which a command writes text for people, in front of one that a terminal may show:
/// characters that would move the cursor, change a colour or reorder a line are escaped.
class TextStream : public std::ostream {
 public:
  explicit TextStream(std::ostream& target) : std::ostream(nullptr), buffer_(target) {
    rdbuf(&buffer_);
  }

 private:
  TextBuffer buffer_;
};

}  // namespace stepwright

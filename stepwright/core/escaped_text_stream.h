#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace stepwright {

/// A stream buffer that forwards text to another stream and escapes characters that a terminal
/// would interpret (`terminal_safe_text`). A character whose bytes arrive in several writes is
/// forwarded whole.
class EscapingStreamBuffer : public std::streambuf {
 public:
  explicit EscapingStreamBuffer(std::ostream& target) : target_(target) {}
  ~EscapingStreamBuffer() override;
  EscapingStreamBuffer(const EscapingStreamBuffer&) = delete;
  EscapingStreamBuffer& operator=(const EscapingStreamBuffer&) = delete;

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  std::ostream& target_;
  std::string begun_;  ///< First bytes of a UTF-8 character whose last bytes have not arrived yet.
};

/// Stream on which a command writes text for people. Characters that would move a terminal's
/// cursor, change a colour or reorder a line are escaped.
class EscapedTextStream : public std::ostream {
 public:
  explicit EscapedTextStream(std::ostream& target) : std::ostream(nullptr), buffer_(target) {
    rdbuf(&buffer_);
  }

 private:
  EscapingStreamBuffer buffer_;
};

}  // namespace stepwright

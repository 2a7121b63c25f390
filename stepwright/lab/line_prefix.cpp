#include "stepwright/lab/line_prefix.h"

#include <ostream>

namespace stepwright::lab {

void PrefixedLineWriter::add(std::string_view piece, std::ostream& out) {
  for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
    out << prefix_ << pending_ << piece.substr(0, end + 1);
    pending_.clear();
    piece.remove_prefix(end + 1);
  }
  pending_ += piece;
  if (pending_.size() >= kLongestLine) finish(out);
}

void PrefixedLineWriter::finish(std::ostream& out) {
  if (!pending_.empty()) out << prefix_ << pending_ << '\n';
  pending_.clear();
}

}  // namespace stepwright::lab

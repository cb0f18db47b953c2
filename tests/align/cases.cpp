// Answers lines of cases, for tests/align/second.py, which works them out by itself.
//
//   symmetrize TAB forward TAB backward TAB gold   the five symmetrisations, each with its counts beside the
//   gold attention TAB targets TAB sources TAB threshold TAB weights   argmax and threshold; both sides end
//   in <eos>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <bahdanau/align/error_rate.hpp>
#include <bahdanau/align/from_attention.hpp>
#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/align/symmetrize.hpp>

namespace bd = bahdanau;

namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  fields.resize(5);
  return fields;
}

void symmetrize(const std::vector<std::string>& fields) {
  const bd::Alignment forward = bd::parse_pharaoh("forward", fields[1]),
                      backward = bd::parse_pharaoh("backward", fields[2]),
                      gold = bd::parse_pharaoh("gold", fields[3]);
  for (const auto name : bd::detail::symmetrization_names) {
    const bd::Alignment found = bd::symmetrize(forward, backward, bd::symmetrization_from_name(name));
    const bd::AlignmentCounts counts = bd::count_links(found, gold);
    std::cout << bd::pharaoh_text(found) << '\t' << bd::detail::exact_digits(counts.precision()) << '\t'
              << bd::detail::exact_digits(counts.recall()) << '\t'
              << bd::detail::exact_digits(counts.error_rate()) << '\t';
  }
  std::cout << '\n';
}

void align(const std::vector<std::string>& fields) {
  bd::Translation translation;
  translation.target.assign(std::stoul(fields[1]), "t");
  translation.source.assign(std::stoul(fields[2]), "s");
  translation.target.back() = translation.source.back() = "<eos>";
  translation.attention =
      bd::Array<float, 2>::from_shape({translation.target.size(), translation.source.size()});
  std::istringstream weights(fields[4]);
  for (float& weight : translation.attention) weights >> weight;
  std::cout << bd::pharaoh_text(bd::argmax_alignment(translation)) << '\t'
            << bd::pharaoh_text(bd::threshold_alignment(translation, std::stod(fields[3]))) << '\n';
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> fields = fields_of(line);
    fields[0] == "attention" ? align(fields) : symmetrize(fields);
  }
}

// What the two files of the program hand to each other.
#pragma once

#include <cstddef>
#include <string>

#include <bahdanau/core/array.hpp>
#include <bahdanau/model/translation.hpp>

bahdanau::Array<float, 2> uniform_weights(std::size_t rows, std::size_t cols);  // rows sum to 1
double sum_of(const bahdanau::Array<float, 2>& weights);
bahdanau::Translation translated();
std::string shown_there(bahdanau::Translation translation);
bool solved_there();

// error: bahdanau: models::defaults knows the models of bahdanau::models alone; give a model of one's own its
// Config, optimizer and TrainerOptions
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() { bd::models::defaults<bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::Xtensor<float>>>(); }

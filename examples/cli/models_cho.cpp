// The model of the paper `cho`.
#include <memory>

#include "model_of.hpp"

namespace cli {

template std::unique_ptr<AnyModel> model_of_paper<Cho>(const Origin&);

}  // namespace cli

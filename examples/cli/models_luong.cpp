// The model of the paper `luong`.
#include <memory>

#include "model_of.hpp"

namespace cli {

template std::unique_ptr<AnyModel> model_of_paper<Luong>(const Origin&);

}  // namespace cli

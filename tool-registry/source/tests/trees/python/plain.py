# No GPU framework here: .item() waits for nothing.
import numpy as np
for x in np.arange(3):
    print(x.item(), x.tolist())

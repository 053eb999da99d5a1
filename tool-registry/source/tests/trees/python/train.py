import torch
import torch.cuda as tc
from kernels import add_kernel, numba_kernel
from torch.cuda import synchronize

handlers = {}


def launch(x, n):
    grid = (n,)
    add_kernel[grid](x, x, n, BLOCK=64)  #: launch add_kernel caller unknown
    handlers["a"](x)
    numba_kernel[1, 64](x)  #: launch numba_kernel caller default; default_stream caller
    numba_kernel[1, 64, x.stream](x)  #: launch numba_kernel caller explicit


class Trainer:
    def log(self, loss):
        return loss.item()  #: python_sync caller

    def fit(self, batches):
        for batch in batches:
            launch(batch, 1)
            loss = self.model(batch)
            self.log(loss)
            values = loss.detach().cpu().numpy()  #: python_sync direct; python_sync direct
            torch.cuda.synchronize()  #: python_sync direct
            tc.synchronize(); synchronize()  #: python_sync direct; python_sync direct
            for key, value in batch.items():
                key.items()
            later = lambda: loss.tolist()  #: python_sync direct

            def nested():
                return loss.item()

            torch.cuda.nvtx.range_push("step")
        else:
            loss.cpu()
        while loss.item() > 1:
            break
        return loss.cpu()


def cpu():
    pass

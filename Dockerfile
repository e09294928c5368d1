# docker build -t roofwalk . && docker run --rm -it -v "$PWD/my:/roofwalk/my" roofwalk run vector-add
FROM debian:12 AS base
# What a fresh machine has; ./roofwalk installs the rest itself.
RUN apt-get update \
 && apt-get install -y --no-install-recommends git ca-certificates \
 && rm -rf /var/lib/apt/lists/*

FROM base
# An image runs on other processors than it was built on.
ENV ROOFWALK_NATIVE=OFF PIP_NO_CACHE_DIR=1
WORKDIR /roofwalk
COPY . .
RUN ./roofwalk list --yes && ./roofwalk help && rm -rf /var/lib/apt/lists/*
ENTRYPOINT ["./roofwalk"]
CMD ["list"]

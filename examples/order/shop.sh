# The shop: `sh shop.sh VERB ORDER` notes in shop.log what it does. The bank is away for the
# first charge. A request that was done before, by its key, is not done again.
log="$(dirname "$0")/shop.log"
touch "$log"
if grep -q " $SEXPLANG_IDEMPOTENCY_KEY\$" "$log"; then
  exit 0
fi
if [ "$1" = charge ] && ! grep -q "^no-bank $2 " "$log"; then
  echo "no-bank $2 -" >> "$log"
  echo "the bank is away" >&2
  exit 1
fi
echo "$1 $2 $SEXPLANG_IDEMPOTENCY_KEY" >> "$log"

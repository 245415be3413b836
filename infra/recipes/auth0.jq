# Makes lines for import-users of the hashes and the profiles that Auth0 exports (see infra/runbooks.md).
# In place of `{plan}` name your own attributes, such as `{plan, seats}`, or `{plan: .tier}` where the name differs.
($profiles | INDEX(.user_id)) as $of
| inputs
| ("auth0|" + (.alt_id // ._id["$oid"])) as $id
| $of[$id] as $profile
| [.identifiers[]? | select(.type == "email")][0] as $address
| (.email // $address.value) as $email
| {$id, $email, created_at: $profile.created_at, password_hash: .passwordHash,
  email_verified: ([.email_verified, $address.verified, $profile.email_verified]
    | map(values) | if . == [] then null else all(. == true) end),
  suspended_at: (if $profile.blocked then now | todate else null end),
  attributes: ($profile.app_metadata // {} | {plan}),
  name: [$profile | select(.) | .name, $email | strings | select(test("\\S"))][0]}
